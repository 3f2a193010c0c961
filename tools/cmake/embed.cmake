# wirewise_embed(FLOOR FUNCTION FOLDER): compiles every *.json of FOLDER into that floor's library, so that the binary
# stands alone. The generated source defines `std::span<const EmbeddedFile> wirewise::FUNCTION()`
# (model/units/embedded.hpp). Run as a script (cmake -P) it writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
    file(GLOB files "${FOLDER}/*.json")
    set(rows "")
    foreach(file IN LISTS files)
        get_filename_component(name "${file}" NAME)
        file(READ "${file}" text)
        string(APPEND rows "        {\"${name}\", R\"~~~~(${text})~~~~\"},\n")
    endforeach()
    file(WRITE "${OUTPUT}" "#include \"model/units/embedded.hpp\"\n\nnamespace wirewise {\n"
         "std::span<const EmbeddedFile> ${FUNCTION}() {\n    static constexpr EmbeddedFile files[] = {\n${rows}    };\n"
         "    return files;\n}\n}  // namespace wirewise\n")
    return()
endif()

set(WIREWISE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(wirewise_embed floor function folder)
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.json")
    set(output "${CMAKE_BINARY_DIR}/embedded/${function}.cpp")
    add_custom_command(OUTPUT "${output}" DEPENDS ${files} "${WIREWISE_EMBED_SCRIPT}" VERBATIM
        COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DOUTPUT=${output} -DFUNCTION=${function}
                -P "${WIREWISE_EMBED_SCRIPT}"
        COMMENT "Embedding ${folder}")
    target_sources(wirewise_${floor} PRIVATE "${output}")
endfunction()
