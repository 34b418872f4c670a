# The libraries that applications link: libstencilgen.so and libstencilgen.a, of the same objects.
# Takes: the object libraries of the layers. Makes: stencilgen::stencilgen and stencilgen::static.
# The public header and its parts by themselves, so that a program in this build sees nothing else of ours.
file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/runtime CONFIGURE_DEPENDS
     runtime/stencilgen.h runtime/stencilgen/*.h)
foreach(header IN LISTS headers)
  configure_file(runtime/${header} include/${header} COPYONLY)
endforeach()

function(sg_library target)
  target_include_directories(${target} INTERFACE $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
                                                 $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME stencilgen LINKER_LANGUAGE C
                        VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
endfunction()

# CUDA is opened while running, so it is no link dependency. Calls of one sg_ function by another
# stay inside, also in a program that has a second copy of the library linked statically.
set(map ${PROJECT_SOURCE_DIR}/runtime/stencilgen.map)
add_library(stencilgen_shared SHARED ${sg_objects})
add_library(stencilgen::stencilgen ALIAS stencilgen_shared)
sg_library(stencilgen_shared)
set_target_properties(stencilgen_shared PROPERTIES EXPORT_NAME stencilgen LINK_DEPENDS ${map})
target_link_options(stencilgen_shared PRIVATE LINKER:--version-script=${map} LINKER:--as-needed
                    LINKER:-Bsymbolic-functions)
if(NOT SG_SANITIZE AND NOT SG_FUZZ)
  # The sanitizers' functions come with the program.
  target_link_options(stencilgen_shared PRIVATE LINKER:--no-undefined LINKER:-z,defs)
endif()
target_link_libraries(stencilgen_shared PRIVATE PkgConfig::LUA PkgConfig::MD PkgConfig::SQLITE
                      Threads::Threads ${CMAKE_DL_LIBS} m)

# An archive of one object, in which all that is hidden is local: none of our names can clash with
# the application's. Instrumented objects have sections that do not survive this, and names of
# their own; their archive holds them as they are.
if(SG_SANITIZE OR SG_FUZZ)
  add_library(stencilgen_static STATIC ${sg_objects})
else()
  set(whole ${PROJECT_BINARY_DIR}/whole/stencilgen.o)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/whole)
  add_custom_command(
    OUTPUT ${whole}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o ${whole} ${sg_objects}
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden --remove-section=.llvm_addrsig ${whole}
    DEPENDS ${sg_objects}
    COMMENT "joining the objects of libstencilgen.a"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_library(stencilgen_static STATIC ${whole})
  set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endif()
add_library(stencilgen::static ALIAS stencilgen_static)
sg_library(stencilgen_static)
set_target_properties(stencilgen_static PROPERTIES EXPORT_NAME static)
target_link_libraries(stencilgen_static INTERFACE
                      $<BUILD_INTERFACE:PkgConfig::LUA> $<BUILD_INTERFACE:PkgConfig::MD>
                      $<BUILD_INTERFACE:PkgConfig::SQLITE>
                      $<INSTALL_INTERFACE:PkgConfig::STENCILGEN_NEEDS> Threads::Threads
                      ${CMAKE_DL_LIBS} m)

# The header by which an application makes a team of its MPI ranks, and the command's way to MPI: that header compiled,
# which the command loads where it runs as one of several processes. It links nothing of ours.
configure_file(mpi/mpi.h include/stencilgen/mpi.h COPYONLY)
find_package(MPI COMPONENTS C QUIET)
if(MPI_C_FOUND AND NOT SG_SANITIZE AND NOT SG_FUZZ)
  add_library(stencilgen_mpi MODULE mpi/module.c)
  target_include_directories(stencilgen_mpi PRIVATE ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(stencilgen_mpi PRIVATE MPI::MPI_C)
endif()
