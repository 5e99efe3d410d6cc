//! Linker arguments of an N-API addon for each platform; among them `-z nodelete`, so that the registry survives the worker
//! thread that loaded it.

use std::env;

fn main() {
    if env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") { wasm() } else { napi_build::setup() }
}

/// Arguments for a module whose memory JavaScript creates, so that the threads of a process can share it: `npm/wasm32-wasi`.
/// napi-build would add 64 MB of stack, and functions for threads that Rust starts; there are none.
///
/// The memory never grows, because engines tell other threads late. The system provides pages when they are first used.
fn wasm() {
    const EXPORTS: [&str; 4] = ["napi_register_wasm_v1", "__wasm_init_tls", "__tls_size", "__stack_pointer"];
    for name in EXPORTS {
        println!("cargo::rustc-link-arg=--export={name}");
    }
    // Node-API's functions are imports. The few functions from Debian's libc, such as strlen, were built without atomics.
    for arg in ["--import-undefined", "--export-table", "--no-check-features", "-zstack-size=131072"] {
        println!("cargo::rustc-link-arg={arg}");
    }
    // The stacks of the other threads follow the module's memory.
    let (own, most) = (64 << 20, 96 << 20);
    println!("cargo::rustc-link-arg=--initial-memory={own}");
    println!("cargo::rustc-link-arg=--max-memory={most}");
}
