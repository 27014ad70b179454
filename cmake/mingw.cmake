# Windows x86-64 by the mingw compilers of Debian: cmake -DCMAKE_TOOLCHAIN_FILE=cmake/mingw.cmake
# Header-only libraries are taken from this machine; the headers are linked into a folder of their own, since those of
# another system lie beside them.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# One file that runs without anything beside it.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
# Where tiny_gltf.h and nlohmann/ of this machine are.
set(ESPY_HEADERS /usr/include CACHE PATH "Header-only libraries for a compiler of another system")
