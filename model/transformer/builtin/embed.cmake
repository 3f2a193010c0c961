# Embeds builtin/models.json into the library, so that the binary stands alone. Edit the JSON and build: CMake notices.
set(models "${CMAKE_CURRENT_LIST_DIR}/models.json")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${models}")
file(READ "${models}" WIREWISE_TEXT)
configure_file("${CMAKE_CURRENT_LIST_DIR}/embed.cpp.in" "${CMAKE_CURRENT_BINARY_DIR}/builtin_models.cpp" @ONLY)
target_sources(wirewise_transformer PRIVATE "${CMAKE_CURRENT_BINARY_DIR}/builtin_models.cpp")
