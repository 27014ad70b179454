# install, find_package(espy) and pkg-config.
include(CMakePackageConfigHelpers)
set(ESPY_INSTALLED espy)
if(TARGET espy-bake)
  list(APPEND ESPY_INSTALLED espy-bake)
endif()
