// The same in C++: objects that close themselves, errors as exceptions.
#include <stencilgen.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const char spec[] = "return stencil { name = 'sum', shape = star(1, 1), boundary = 'zero',"
                    "                 coefficients = { 1, 10, 100 } }";

struct Deleter {
    void operator()(sg_context *context) const {
        sg_close(context);
    }
    void operator()(sg_kernel *kernel) const {
        sg_release(kernel);
    }
};
using Context = std::unique_ptr<sg_context, Deleter>;
using Kernel = std::unique_ptr<sg_kernel, Deleter>;

void must(const Context &context, sg_status status) {
    if (status != SG_OK)
        throw std::runtime_error(std::string(sg_status_name(status)) + ": " +
                                 sg_error(context.get()));
}

Context open_context(const char *device) {
    sg_options options{};
    options.struct_size = sizeof options;
    options.device = device;
    sg_context *context = nullptr;
    const sg_status status = sg_open(&context, &options);
    Context owned(context);
    must(owned, status);
    return owned;
}

Kernel build(const Context &context, const char *name, const char *text) {
    sg_build_options options{};
    options.struct_size = sizeof options;
    options.text = text;
    sg_kernel *kernel = nullptr;
    must(context, sg_build(context.get(), name, &options, &kernel));
    return Kernel(kernel);
}

std::vector<float> launch(const Context &context, const Kernel &kernel, std::vector<float> u) {
    std::vector<float> next(u.size());
    sg_grid grids[2]{};
    grids[0].data = u.data();
    grids[1].data = next.data();
    grids[0].size[0] = grids[1].size[0] = static_cast<std::int64_t>(u.size());
    sg_arguments arguments{};
    arguments.struct_size = sizeof arguments;
    arguments.grids = grids;
    arguments.grid_count = 2;
    must(context, sg_launch(kernel.get(), &arguments, nullptr));
    must(context, sg_synchronize(context.get(), nullptr));
    return next;
}

} // namespace

int main() try {
    const Context context = open_context("cpu");
    const Kernel kernel = build(context, "sum.lua", spec);
    const std::vector<float> next = launch(context, kernel, {1, 2, 3, 4, 5});
    std::cout << "sum of (2, 3, 4) is " << next[2] << ", of (4, 5) " << next[4] << "\nstencilgen "
              << sg_version() << ", compiled against " << SG_VERSION << '\n';
    return next[2] != 423 || next[4] != 45 || std::string(sg_version()) != SG_VERSION;
} catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
}
