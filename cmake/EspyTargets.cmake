# How every target of espy is compiled.

# Lists the C and C++ files of module folders.
function(espy_glob out)
  set(files)
  foreach(folder ${ARGN})
    file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.c ${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND files ${found})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# Strict floats: no contraction, no fast maths, SSE2 arithmetic on 32-bit x86. The same bits on every target.
function(espy_compile target)
  target_compile_options(${target} PRIVATE
    -ffp-contract=off -fno-fast-math
    -Wall -Wextra -Wconversion -Wshadow -Wundef
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
  if(ESPY_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "i[3-6]86")
    target_compile_options(${target} PRIVATE -msse2 -mfpmath=sse)
  endif()
  if(MINGW)
    # Its own printf knows %zu, which the check of formats does not know; its isfinite looks at a double as a float in a
    # branch that is not taken.
    target_compile_definitions(${target} PRIVATE __USE_MINGW_ANSI_STDIO=1)
    target_compile_options(${target} PRIVATE -Wno-float-conversion -Wno-format -Wno-format-extra-args)
  endif()
  if(ESPY_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${ESPY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${ESPY_SANITIZE})
  endif()
  target_compile_definitions(${target} PRIVATE $<$<NOT:$<BOOL:${WIN32}>>:_POSIX_C_SOURCE=200809L>)
endfunction()

# Kernels are one .inl compiled once per instruction set by files that end in its name. AVX-512 brings FMA with it (and
# clang drops AVX-512 with -mno-fma); contraction is off for all.
function(espy_isa_flags)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|i[3-6]86")
    return()
  endif()
  foreach(file ${ARGN})
    if(file MATCHES "_sse41\\.c$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-msse4.1")
    elseif(file MATCHES "_avx2\\.c$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "-mavx2;-mno-fma")
    elseif(file MATCHES "_avx512\\.c$")
      set_source_files_properties(${file} PROPERTIES
        COMPILE_OPTIONS "-mavx512f;-mavx512vl;-mavx512dq;-mavx512bw;-mprefer-vector-width=512")
    endif()
  endforeach()
endfunction()

function(espy_add_library name)
  espy_isa_flags(${ARGN})
  add_library(${name} ${ARGN})
  add_library(espy::${name} ALIAS ${name})
  espy_compile(${name})
  target_compile_definitions(${name} PRIVATE ESPY_BUILDING)
  target_include_directories(${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${name} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endfunction()

function(espy_add_program name)
  add_executable(${name} ${ARGN})
  espy_compile(${name})
endfunction()
