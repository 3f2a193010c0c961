# Language level, warnings, sanitizers and ccache: one place for all floors.
option(WIREWISE_BUILD_TESTS "build the tests and benchmarks" ON)
set(WIREWISE_SANITIZE "" CACHE STRING "sanitizers to build with, e.g. address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)  # the floors also go into the library of the CUDA executor
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
set(warnings -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
             -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default
target_compile_options(wirewise_settings INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${warnings}>")
if(WIREWISE_SANITIZE)
    target_compile_options(wirewise_settings INTERFACE
        "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${WIREWISE_SANITIZE};-fno-omit-frame-pointer>")
    target_link_options(wirewise_settings INTERFACE -fsanitize=${WIREWISE_SANITIZE})
endif()

# clang-tidy beside the compiler (preset `tidy`).
option(WIREWISE_TIDY "run clang-tidy on every source" OFF)
if(WIREWISE_TIDY)
    find_program(CLANG_TIDY_PROGRAM NAMES clang-tidy clang-tidy-18 clang-tidy-17 clang-tidy-16 REQUIRED)
    set(CMAKE_CXX_CLANG_TIDY "${CLANG_TIDY_PROGRAM}" --quiet)
endif()
