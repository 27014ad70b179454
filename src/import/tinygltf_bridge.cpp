// SPDX-License-Identifier: MIT
// The one place that knows tinygltf: parses glTF JSON and shows the result as plain C. No exception leaves it.
#include "import/gltf_model.h"

#ifdef ESPY_HAVE_TINYGLTF

#ifdef ESPY_TINYGLTF_HEADER_ONLY
#define TINYGLTF_IMPLEMENTATION
#define TINYGLTF_NO_STB_IMAGE
#define TINYGLTF_NO_STB_IMAGE_WRITE
#define TINYGLTF_NO_FS
#endif
#include <tiny_gltf.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

struct Owner
{
    tinygltf::Model model;
    std::vector<espyiGltfView> views;
    std::vector<espyiGltfAccessor> accessors;
    std::vector<espyiGltfMaterial> materials;
    std::vector<espyiGltfNode> nodes;
    std::vector<espyiGltfCamera> cameras;
    std::vector<int32_t> roots;
    std::vector<const char*> requiredExtensions;
};

const tinygltf::Value* findExtension(const tinygltf::ExtensionMap& extensions, const char* name)
{
    const auto found = extensions.find(name);
    return found == extensions.end() ? nullptr : &found->second;
}

/// The member of an object value, or null. tinygltf's own Get returns a shared null value instead.
const tinygltf::Value* findMember(const tinygltf::Value* value, const char* name)
{
    return value && value->IsObject() && value->Has(name) ? &value->Get(name) : nullptr;
}

int32_t toIndex(const tinygltf::Value* value)
{
    return value && value->IsInt() ? value->GetNumberAsInt() : -1;
}

const char* toText(const tinygltf::Value* value)
{
    return value && value->IsString() ? value->Get<std::string>().c_str() : "";
}

uint32_t componentsOf(int type)
{
    const int count = tinygltf::GetNumComponentsInType(static_cast<uint32_t>(type));
    return count > 0 ? static_cast<uint32_t>(count) : 0u;
}

void fillViews(Owner& owner)
{
    for (const tinygltf::BufferView& view : owner.model.bufferViews)
    {
        espyiGltfView to = {};
        to.buffer = view.buffer;
        to.offset = view.byteOffset;
        to.length = view.byteLength;
        to.stride = static_cast<uint32_t>(view.byteStride);
        if (const tinygltf::Value* packed = findExtension(view.extensions, "EXT_meshopt_compression"))
        {
            to.compressed = true;
            to.packedBuffer = toIndex(findMember(packed, "buffer"));
            to.packedOffset = toIndex(findMember(packed, "byteOffset"));
            to.packedLength = toIndex(findMember(packed, "byteLength"));
            to.packedStride = toIndex(findMember(packed, "byteStride"));
            to.packedCount = toIndex(findMember(packed, "count"));
            to.packedMode = toText(findMember(packed, "mode"));
            to.packedFilter = toText(findMember(packed, "filter"));
        }
        owner.views.push_back(to);
    }
}

void fillAccessors(Owner& owner)
{
    for (const tinygltf::Accessor& from : owner.model.accessors)
    {
        espyiGltfAccessor to = {};
        to.view = from.bufferView;
        to.offset = from.byteOffset;
        to.count = from.count;
        to.componentType = from.componentType;
        to.components = componentsOf(from.type);
        to.normalized = from.normalized;
        to.sparse = from.sparse.isSparse;
        if (to.sparse)
        {
            to.sparseCount = from.sparse.count;
            to.sparseIndicesView = from.sparse.indices.bufferView;
            to.sparseIndicesType = from.sparse.indices.componentType;
            to.sparseIndicesOffset = from.sparse.indices.byteOffset;
            to.sparseValuesView = from.sparse.values.bufferView;
            to.sparseValuesOffset = from.sparse.values.byteOffset;
        }
        owner.accessors.push_back(to);
    }
}

void fillMaterials(Owner& owner)
{
    for (const tinygltf::Material& from : owner.model.materials)
    {
        espyiGltfMaterial to = {};
        to.alphaMode = from.alphaMode.c_str();
        const std::vector<double>& color = from.pbrMetallicRoughness.baseColorFactor;
        for (size_t i = 0; i < 3; ++i)
        {
            to.color[i] = i < color.size() ? color[i] : 1.0;
        }
        const tinygltf::Value* factor =
            findMember(findExtension(from.extensions, "KHR_materials_transmission"), "transmissionFactor");
        to.transmits = factor && factor->IsNumber() && factor->GetNumberAsDouble() > 0.0;
        to.extras = &from.extras;
        owner.materials.push_back(to);
    }
}

/// A transform array of the right length, or null.
const double* toArray(const std::vector<double>& values, size_t size, bool& bad)
{
    bad = bad || (!values.empty() && values.size() != size);
    return values.size() == size ? values.data() : nullptr;
}

void fillNodes(Owner& owner)
{
    for (const tinygltf::Node& from : owner.model.nodes)
    {
        espyiGltfNode to = {};
        to.name = from.name.c_str();
        to.mesh = from.mesh;
        to.skin = from.skin;
        to.camera = from.camera;
        to.children = from.children.data();
        to.childCount = from.children.size();
        to.matrix = toArray(from.matrix, 16, to.badTransform);
        to.translation = toArray(from.translation, 3, to.badTransform);
        to.rotation = toArray(from.rotation, 4, to.badTransform);
        to.scale = toArray(from.scale, 3, to.badTransform);
        if (const tinygltf::Value* extension = findExtension(from.extensions, "EXT_mesh_gpu_instancing"))
        {
            const tinygltf::Value* attributes = findMember(extension, "attributes");
            to.instanced = true;
            to.instanceTranslation = toIndex(findMember(attributes, "TRANSLATION"));
            to.instanceRotation = toIndex(findMember(attributes, "ROTATION"));
            to.instanceScale = toIndex(findMember(attributes, "SCALE"));
        }
        to.extras = &from.extras;
        owner.nodes.push_back(to);
    }
}

void fillCameras(Owner& owner)
{
    for (const tinygltf::Camera& from : owner.model.cameras)
    {
        espyiGltfCamera to = {};
        to.orthographic = from.type == "orthographic";
        to.verticalFov = from.perspective.yfov;
        to.aspect = from.perspective.aspectRatio;
        to.halfHeight = from.orthographic.ymag;
        to.nearDistance = to.orthographic ? from.orthographic.znear : from.perspective.znear;
        to.farDistance = to.orthographic ? from.orthographic.zfar : from.perspective.zfar;
        if (to.orthographic && from.orthographic.ymag > 0.0)
        {
            to.aspect = from.orthographic.xmag / from.orthographic.ymag;
        }
        owner.cameras.push_back(to);
    }
}

/// The default scene's roots; all nodes without a parent where the file has no scene at all. Returns the extras.
const tinygltf::Value* fillScene(Owner& owner)
{
    const tinygltf::Model& model = owner.model;
    if (model.scenes.empty())
    {
        std::vector<char> isChild(model.nodes.size(), 0);
        for (const tinygltf::Node& node : model.nodes)
        {
            for (const int child : node.children)
            {
                if (child >= 0 && static_cast<size_t>(child) < isChild.size())
                {
                    isChild[static_cast<size_t>(child)] = 1;
                }
            }
        }
        for (size_t i = 0; i < isChild.size(); ++i)
        {
            if (!isChild[i])
            {
                owner.roots.push_back(static_cast<int32_t>(i));
            }
        }
        return nullptr;
    }
    const size_t wanted = model.defaultScene < 0 ? 0u : static_cast<size_t>(model.defaultScene);
    if (wanted >= model.scenes.size())
    {
        throw std::runtime_error("scene " + std::to_string(wanted) + " is past the end of scenes");
    }
    const tinygltf::Scene& scene = model.scenes[wanted];
    owner.roots.assign(scene.nodes.begin(), scene.nodes.end());
    return &scene.extras;
}

void fill(Owner& owner, espyiGltfModel* out)
{
    fillViews(owner);
    fillAccessors(owner);
    fillMaterials(owner);
    fillNodes(owner);
    fillCameras(owner);
    out->sceneExtras = fillScene(owner);
    for (const std::string& name : owner.model.extensionsRequired)
    {
        owner.requiredExtensions.push_back(name.c_str());
    }
    out->views = owner.views.data();
    out->accessors = owner.accessors.data();
    out->materials = owner.materials.data();
    out->nodes = owner.nodes.data();
    out->cameras = owner.cameras.data();
    out->roots = owner.roots.data();
    out->requiredExtensions = owner.requiredExtensions.data();
    out->viewCount = owner.views.size();
    out->accessorCount = owner.accessors.size();
    out->materialCount = owner.materials.size();
    out->nodeCount = owner.nodes.size();
    out->cameraCount = owner.cameras.size();
    out->rootCount = owner.roots.size();
    out->requiredExtensionCount = owner.requiredExtensions.size();
    out->owner = &owner;
}

espyiGltfValue toValue(const tinygltf::Value* value)
{
    espyiGltfValue out = {};
    out.text = "";
    if (!value || value->Type() == tinygltf::NULL_TYPE)
    {
        return out;
    }
    out.handle = value;
    out.kind = espyiGltfValueKind_Other;
    if (value->IsBool())
    {
        out.kind = espyiGltfValueKind_Bool;
        out.number = value->Get<bool>() ? 1.0 : 0.0;
    }
    else if (value->IsNumber())
    {
        out.kind = espyiGltfValueKind_Number;
        out.number = value->GetNumberAsDouble();
    }
    else if (value->IsString())
    {
        out.kind = espyiGltfValueKind_Text;
        out.text = value->Get<std::string>().c_str();
    }
    else if (value->IsArray())
    {
        out.kind = espyiGltfValueKind_Array;
        out.count = value->ArrayLen();
    }
    else if (value->IsObject())
    {
        out.kind = espyiGltfValueKind_Object;
    }
    return out;
}

/// tinygltf has no reader of images here; it must not fail where it would want one.
bool ignoreImage(tinygltf::Image*, const int, std::string*, std::string*, int, int, const unsigned char*, int, void*)
{
    return true;
}

bool refuseExists(const std::string&, void*)
{
    return false;
}

std::string refuseExpand(const std::string& path, void*)
{
    return path;
}

bool refuseRead(std::vector<unsigned char>*, std::string*, const std::string&, void*)
{
    return false;
}

bool refuseWrite(std::string*, const std::string&, const std::vector<unsigned char>&, void*)
{
    return false;
}

/// The JSON library allocates in destructors: where memory ends inside one of them the program ends, and no catch
/// helps. So all that reading may take is taken before, in blocks, and given back block by block where an allocation of
/// the reading thread would fail: it then finds what was kept for it, whatever other threads did meanwhile. Where they
/// took even that, the thread waits for them a while: running out for good is the last resort.
class Reserve
{
  public:
    explicit Reserve(size_t bytes) : each(bytes / BlockCount + 1u)
    {
        while (count < BlockCount && (blocks[count] = std::malloc(each)) != nullptr)
        {
            ++count;
        }
        whole = count == BlockCount;
        if (whole)
        {
            open();
        }
    }
    ~Reserve()
    {
        if (whole)
        {
            close();
        }
        while (release())
        {
        }
    }
    Reserve(const Reserve&) = delete;
    Reserve& operator=(const Reserve&) = delete;
    /// False: there was not that much memory, and nothing is to be begun.
    bool isWhole() const
    {
        return whole;
    }

  private:
    static constexpr size_t BlockCount = 64;
    static constexpr std::chrono::milliseconds Pause{1};
    /// Pauses of one reading altogether.
    unsigned patience = 5000;
    void* blocks[BlockCount] = {};
    size_t count = 0, each;
    bool whole = false;

    /// The reserve of what this thread reads.
    static thread_local Reserve* current;
    // The handler of failed allocations is the process's: it stands while any thread reads.
    static std::atomic_flag busy;
    static unsigned readers;
    static std::atomic<std::new_handler> before;

    bool release()
    {
        if (count == 0)
        {
            return false;
        }
        std::free(blocks[--count]);
        return true;
    }
    /// Called where an allocation fails, on its thread; returns where it is to be tried again.
    static void onExhausted()
    {
        if (current && current->release())
        {
            return;
        }
        if (current && current->patience > 0)
        {
            --current->patience;
            std::this_thread::sleep_for(Pause);
            return;
        }
        const std::new_handler next = before;
        if (!next)
        {
            throw std::bad_alloc();
        }
        next();
    }
    void open()
    {
        current = this;
        lock();
        if (readers++ == 0)
        {
            before = std::set_new_handler(onExhausted);
        }
        busy.clear();
    }
    static void lock()
    {
        while (busy.test_and_set())
        {
        }
    }
    static void close()
    {
        current = nullptr;
        lock();
        // Whoever put another in its place keeps it, and calls ours no more than before.
        if (--readers == 0 && std::get_new_handler() == onExhausted)
        {
            std::set_new_handler(before);
        }
        busy.clear();
    }
};

thread_local Reserve* Reserve::current = nullptr;
std::atomic_flag Reserve::busy = ATOMIC_FLAG_INIT;
unsigned Reserve::readers = 0;
std::atomic<std::new_handler> Reserve::before{nullptr};

} // namespace

espyResult espyiGltfModel_Parse(const char* json, size_t size, size_t room, espyiGltfModel* out, char* message,
                                size_t messageSize)
{
    *out = espyiGltfModel{};
    const Reserve reserve(room);
    if (!reserve.isWhole())
    {
        return espyResult_OutOfMemory;
    }
    Owner* owner = nullptr;
    espyResult result = espyResult_BadData;
    try
    {
        owner = new Owner;
        tinygltf::TinyGLTF loader;
        loader.SetImageLoader(ignoreImage, nullptr);
        loader.SetFsCallbacks({refuseExists, refuseExpand, refuseRead, refuseWrite, nullptr});
        std::string error, warning;
        if (loader.LoadASCIIFromString(&owner->model, &error, &warning, json, static_cast<unsigned int>(size), ""))
        {
            fill(*owner, out);
            return espyResult_Ok;
        }
        std::snprintf(message, messageSize, "%s", error.c_str());
    }
    catch (const std::bad_alloc&)
    {
        result = espyResult_OutOfMemory;
    }
    catch (const std::exception& fault)
    {
        std::snprintf(message, messageSize, "%s", fault.what());
    }
    catch (...)
    {
        std::snprintf(message, messageSize, "the JSON cannot be read");
    }
    delete owner;
    *out = espyiGltfModel{};
    return result;
}

void espyiGltfModel_Free(espyiGltfModel* model)
{
    delete static_cast<Owner*>(model->owner);
    *model = espyiGltfModel{};
}

espyiGltfValue espyiGltfValue_Member(const void* handle, const char* key)
{
    return toValue(findMember(static_cast<const tinygltf::Value*>(handle), key));
}

espyiGltfValue espyiGltfValue_Element(const void* handle, size_t index)
{
    const tinygltf::Value* array = static_cast<const tinygltf::Value*>(handle);
    return toValue(array && array->IsArray() && index < array->ArrayLen() ? &array->Get(static_cast<int>(index))
                                                                          : nullptr);
}

#else

#include <cstdio>

espyResult espyiGltfModel_Parse(const char*, size_t, size_t, espyiGltfModel* out, char* message, size_t messageSize)
{
    *out = espyiGltfModel{};
    std::snprintf(message, messageSize, "built without tinygltf: no glTF import");
    return espyResult_Unsupported;
}

void espyiGltfModel_Free(espyiGltfModel*)
{
}

espyiGltfValue espyiGltfValue_Member(const void*, const char*)
{
    return espyiGltfValue{};
}

espyiGltfValue espyiGltfValue_Element(const void*, size_t)
{
    return espyiGltfValue{};
}

#endif
