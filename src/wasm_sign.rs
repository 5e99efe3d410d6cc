//! The sign that flakeforge leaves in a process where it runs as WebAssembly: `npm/wasm32-wasi/binaries.cjs`. All threads can
//! see it. A binary cannot share cursors with the WebAssembly, so it cannot be used next to it.

/// The file of the WebAssembly that any thread of this process runs.
pub fn file_in_use() -> Option<String> {
    sign::file()
}

/// A descriptor of the module's file, opened with a flag that has no effect on files. The environment is not used here,
/// because glibc lets another thread change it during the read.
#[cfg(target_os = "linux")]
mod sign {
    use std::fs;
    use std::path::Path;

    const MODULE: &str = "flakeforge.wasm32-wasi.wasm";

    pub fn file() -> Option<String> {
        let descriptors = fs::read_dir("/proc/self/fd").ok()?;
        descriptors.flatten().find_map(|descriptor| {
            let file = fs::read_link(descriptor.path()).ok()?;
            // The system appends to the name of a removed file.
            let is_module = file.file_name()?.to_string_lossy().starts_with(MODULE);
            let info = Path::new("/proc/self/fdinfo").join(descriptor.file_name());
            (is_module && has_flag(&fs::read_to_string(info).ok()?)).then(|| file.to_string_lossy().into_owned())
        })
    }

    /// Whether the file was opened with `O_NONBLOCK`.
    fn has_flag(info: &str) -> bool {
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|octal| i32::from_str_radix(octal.trim(), 8).ok());
        flags.is_some_and(|flags| flags & libc::O_NONBLOCK != 0)
    }
}

/// An environment variable with the process, because children inherit the variable, and the file.
#[cfg(not(target_os = "linux"))]
mod sign {
    const VARIABLE: &str = "_FLAKEFORGE_WASM";

    pub fn file() -> Option<String> {
        let value = std::env::var_os(VARIABLE)?.to_string_lossy().into_owned();
        let (process, file) = value.split_once(' ')?;
        (process.parse() == Ok(std::process::id())).then(|| file.to_owned())
    }
}
