# Toolchain for WebAssembly: clang compiles each file (much faster than emcc, which is a Python program), emcc links.
# The C library is the prebuilt one of Debian's emscripten.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
find_program(EMCC emcc REQUIRED)
find_program(WASM_CLANG NAMES clang-14 clang REQUIRED)
find_program(WASM_AR NAMES llvm-ar-14 llvm-ar REQUIRED)
find_program(WASM_RANLIB NAMES llvm-ranlib-14 llvm-ranlib REQUIRED)
set(EMSCRIPTEN_SYSROOT /usr/share/emscripten/cache/sysroot CACHE PATH "prebuilt C library of emscripten")
set(CMAKE_C_COMPILER ${WASM_CLANG})
set(CMAKE_C_COMPILER_TARGET wasm32-unknown-emscripten)
set(CMAKE_SYSROOT ${EMSCRIPTEN_SYSROOT})
set(CMAKE_AR ${WASM_AR} CACHE FILEPATH "")
set(CMAKE_RANLIB ${WASM_RANLIB} CACHE FILEPATH "")
set(CMAKE_C_FLAGS_INIT "-msimd128 -fvisibility=hidden")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# emcc finds Debian's node modules also with a node from elsewhere.
set(CMAKE_C_LINK_EXECUTABLE
    "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs ${EMCC} -O3 <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
