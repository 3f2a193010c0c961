# Language level, warnings, sanitizers and ccache: one place for all floors.
option(WIREWISE_BUILD_TESTS "build the tests and benchmarks" ON)
set(WIREWISE_SANITIZE "" CACHE STRING "sanitizers to build with, e.g. address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()

add_library(wirewise_settings INTERFACE)
target_include_directories(wirewise_settings INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
target_compile_options(wirewise_settings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                       -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default
if(WIREWISE_SANITIZE)
    target_compile_options(wirewise_settings INTERFACE -fsanitize=${WIREWISE_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(wirewise_settings INTERFACE -fsanitize=${WIREWISE_SANITIZE})
endif()
