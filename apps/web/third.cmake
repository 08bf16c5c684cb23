# KLU and jansson from the sources that fetch_sources.sh has put into THIRD_PARTY.
set(suite ${THIRD_PARTY}/SuiteSparse-5.12.0)
file(GLOB parts ${suite}/KLU/Source/*.c ${suite}/AMD/Source/*.c ${suite}/BTF/Source/*.c ${suite}/COLAMD/Source/*.c
     ${suite}/SuiteSparse_config/*.c)
set(suite_includes ${suite}/KLU/Include ${suite}/AMD/Include ${suite}/BTF/Include ${suite}/COLAMD/Include
    ${suite}/SuiteSparse_config)
add_library(klu_real STATIC ${parts})
# The same files once more for complex numbers; those without numbers in them exist once.
file(GLOB numeric ${suite}/KLU/Source/*.c)
list(FILTER numeric EXCLUDE REGEX "klu_(analyze|analyze_given|defaults|free_symbolic|memory)\\.c$")
add_library(klu_complex STATIC ${numeric})
target_compile_definitions(klu_complex PRIVATE COMPLEX)
foreach(target klu_real klu_complex)
    target_compile_definitions(${target} PRIVATE NDEBUG NTIMER)
    target_compile_options(${target} PRIVATE -w)
    target_include_directories(${target} PUBLIC ${suite_includes})
endforeach()
add_library(KLU::KLU INTERFACE IMPORTED)
target_link_libraries(KLU::KLU INTERFACE klu_real klu_complex)

file(GLOB jansson ${THIRD_PARTY}/jansson-2.14/src/*.c)
add_library(jansson STATIC ${jansson})
target_compile_options(jansson PRIVATE -w)
target_compile_definitions(jansson PRIVATE HAVE_STDINT_H HAVE_UNISTD_H HAVE_SYS_TIME_H)
file(WRITE ${CMAKE_BINARY_DIR}/jansson/jansson_private_config.h "") # what it would hold is defined above
target_include_directories(jansson PRIVATE ${CMAKE_BINARY_DIR}/jansson PUBLIC ${THIRD_PARTY}/jansson-2.14/src ${THIRD_PARTY}/jansson-2.14/android)
add_library(Jansson::Jansson ALIAS jansson)
