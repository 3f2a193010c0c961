# wirewise_floor(NAME FOLDER DEPS ... [LIBRARIES ...]): one library per floor, made of the sources of one folder (its
# subfolders that are not floors themselves included). DEPS are the floors it may include; the test `house.includes`
# reads the list gathered here and fails on any other include.
set_property(GLOBAL PROPERTY WIREWISE_FLOORS "")

function(wirewise_floor name folder)
    cmake_parse_arguments(floor "" "" "DEPS;LIBRARIES;SOURCES" ${ARGN})
    set(sources ${floor_SOURCES})
    if(NOT sources)
        file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp"
             "${PROJECT_SOURCE_DIR}/${folder}/*/*.cpp")
    endif()
    get_property(floors GLOBAL PROPERTY WIREWISE_FLOORS)
    foreach(entry IN LISTS floors)  # a floor nested in this folder owns its own sources
        string(REGEX REPLACE "=.*" "" other "${entry}")
        if(other MATCHES "^${folder}/")
            list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${other}/")
        endif()
    endforeach()
    list(TRANSFORM floor_DEPS PREPEND wirewise_ OUTPUT_VARIABLE links)
    if(sources)
        add_library(wirewise_${name} STATIC ${sources})
        target_link_libraries(wirewise_${name} PUBLIC wirewise_settings ${links} PRIVATE ${floor_LIBRARIES})
    else()
        add_library(wirewise_${name} INTERFACE)
        target_link_libraries(wirewise_${name} INTERFACE wirewise_settings ${links})
    endif()
    set_property(GLOBAL PROPERTY WIREWISE_FOLDER_${name} "${folder}")
    set(allowed "${folder}")
    foreach(dep IN LISTS floor_DEPS)
        get_property(below GLOBAL PROPERTY WIREWISE_ALLOWED_${dep})
        list(APPEND allowed ${below})
    endforeach()
    list(REMOVE_DUPLICATES allowed)
    set_property(GLOBAL PROPERTY WIREWISE_ALLOWED_${name} "${allowed}")
    list(JOIN allowed "," joined)
    set_property(GLOBAL APPEND PROPERTY WIREWISE_FLOORS "${folder}=${joined}")
endfunction()

# wirewise_test(NAME DEPS ... [LIBRARIES ...]): the GoogleTest binary of all sources in the calling folder, one CTest entry
# per test case.
function(wirewise_test name)
    cmake_parse_arguments(test "" "" "DEPS;LIBRARIES;LABELS" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
    include(GoogleTest)
    list(TRANSFORM test_DEPS PREPEND wirewise_ OUTPUT_VARIABLE links)
    add_executable(test_${name} ${sources})
    target_link_libraries(test_${name} PRIVATE wirewise_settings ${links} ${test_LIBRARIES} GTest::gtest_main)
    target_compile_definitions(test_${name} PRIVATE
        WIREWISE_SOURCE_FOLDER="${PROJECT_SOURCE_DIR}" WIREWISE_FIXTURES="${CMAKE_CURRENT_SOURCE_DIR}/fixtures")
    gtest_discover_tests(test_${name} TEST_PREFIX "${name}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                         PROPERTIES TIMEOUT 300 LABELS "${name};${test_LABELS}")
endfunction()
