# What `make install` puts in place: headers, both libraries, the program, daedalus.pc and the CMake package.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Daedalus)

install(DIRECTORY include/daedalus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${CMAKE_BINARY_DIR}/include/daedalus/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/daedalus)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY examples models problems DESTINATION ${CMAKE_INSTALL_DOCDIR}) # what the pages name
if(TARGET daedalus)
    install(TARGETS daedalus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# The shared library stands alone; the static one needs the libraries under it, so it has its own target file,
# which DaedalusConfig.cmake reads only where they are found.
set_target_properties(daedalus_shared PROPERTIES EXPORT_NAME daedalus)
set_target_properties(daedalus_static PROPERTIES EXPORT_NAME daedalus_static)
install(TARGETS daedalus_shared EXPORT DaedalusTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS daedalus_static EXPORT DaedalusStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT DaedalusTargets NAMESPACE Daedalus:: DESTINATION ${package_dir})
install(EXPORT DaedalusStaticTargets NAMESPACE Daedalus:: DESTINATION ${package_dir})
configure_package_config_file(cmake/DaedalusConfig.cmake.in ${CMAKE_BINARY_DIR}/DaedalusConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/DaedalusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/DaedalusConfig.cmake ${CMAKE_BINARY_DIR}/DaedalusConfigVersion.cmake
              cmake/FindLAPACKE.cmake cmake/FindKLU.cmake cmake/FindJansson.cmake cmake/FindSUNDIALS.cmake
        DESTINATION ${package_dir})

# daedalus.pc. A library file becomes -l<name>; its folder is named only where the linker would not look by itself.
set(private "")
set(files ${LAPACKE_LIBRARY} ${LAPACK_LIBRARIES} ${KLU_LIBRARIES} ${JANSSON_LIBRARY} ${CMAKE_THREAD_LIBS_INIT})
if(SUNDIALS_FOUND)
    foreach(part ${sundials_parts} generic)
        list(APPEND files ${SUNDIALS_${part}_LIBRARY})
    endforeach()
endif()
foreach(file ${files})
    if(file MATCHES "^-")
        list(APPEND private ${file})
    else()
        get_filename_component(name ${file} NAME)
        get_filename_component(folder ${file} DIRECTORY)
        string(REGEX REPLACE "^lib(.*)\\.(so|a|dylib)[.0-9]*$" "\\1" name ${name})
        if(NOT folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
            list(APPEND private -L${folder})
        endif()
        list(APPEND private -l${name})
    endif()
endforeach()
foreach(name ${CMAKE_DL_LIBS})
    list(APPEND private -l${name})
endforeach()
list(APPEND private -lm)
list(REMOVE_DUPLICATES private)
list(JOIN private " " PC_LIBS_PRIVATE)
file(RELATIVE_PATH PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" PC_UP "${PC_UP}")
configure_file(cmake/daedalus.pc.in ${CMAKE_BINARY_DIR}/daedalus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/daedalus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
