# wirewise_embed(FLOOR FUNCTION FOLDER [PATTERN]): compiles every file of FOLDER that matches (*.json unless told) into
# that floor's library, so that the binary stands alone. The generated source defines `std::span<const EmbeddedFile> wirewise::FUNCTION()`
# (model/units/embedded.hpp). Run as a script (cmake -P) it writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
    file(GLOB files "${FOLDER}/${PATTERN}")
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
    set(pattern "*.json")
    if(ARGC GREATER 3)
        set(pattern "${ARGV3}")
    endif()
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/${pattern}")
    set(output "${CMAKE_BINARY_DIR}/embedded/${function}.cpp")
    add_custom_command(OUTPUT "${output}" DEPENDS ${files} "${WIREWISE_EMBED_SCRIPT}" VERBATIM
        COMMAND ${CMAKE_COMMAND} -DFOLDER=${PROJECT_SOURCE_DIR}/${folder} -DOUTPUT=${output} -DFUNCTION=${function} -DPATTERN=${pattern}
                -P "${WIREWISE_EMBED_SCRIPT}"
        COMMENT "Embedding ${folder}")
    target_sources(wirewise_${floor} PRIVATE "${output}")
endfunction()
