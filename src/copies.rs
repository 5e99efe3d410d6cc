//! The copies of the addon in a process share the registry of the first one. A process has several if packages bring their
//! own, if a bundle has a copy next to it, or if two releases meet.
//!
//! A copy finds the others among the images that the process has loaded, through the function below. Its name and signature
//! never change: see [`entry`](flakeforge_core::generator::entry).

#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};

use flakeforge_core::generator::entry::{Visit, Visitor};
use flakeforge_core::open::process;
use napi_derive::napi;

use crate::wasm_sign;

/// The name of the function below.
const NAME: &CStr = c"flakeforge_registry_1";

/// Calls `visitor` with the entry of a key in the table of this copy.
///
/// # Safety
///
/// `key` must point to `len` bytes, and `visitor` must take `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeforge_registry_1(key: *const u8, len: usize, visitor: Visitor, context: *mut c_void) {
    // SAFETY: as the caller promises.
    unsafe { process::visit((key, len), (visitor, context)) };
}

/// Two copies of the addon, or this one and the WebAssembly, that cannot share a registry, as paths.
#[napi(object, object_from_js = false)]
pub struct Strangers {
    /// this copy
    pub here: String,
    /// the one loaded before
    pub there: String,
}

/// Makes this copy use the registry of the first one that was loaded. If that is impossible, returns the two copies.
#[napi(catch_unwind)]
pub fn meet_copies() -> Option<Strangers> {
    // Other copies may use the registry of this copy from now on. Node unloads an addon that only a worker had loaded when
    // the worker ends, and Windows and macOS allow that.
    napi::bindgen_prelude::retain_current_module_for_unload_safety();
    match first() {
        Ok(visit) => {
            process::share(visit);
            None
        }
        Err(strangers) => Some(strangers),
    }
}

/// A file that the process has loaded as code.
struct Image {
    path: String,
    /// the address of [`NAME`] in it
    visit: Option<Visit>,
    is_own: bool,
}

impl Image {
    /// Whether it has the name of the addon's file. Tools may extend or replace that name.
    fn is_named_as_addon(&self) -> bool {
        let name = self.path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
        name.starts_with("flakeforge") && name.ends_with(".node")
    }
}

/// The function of the copy that was loaded first. Every copy lists the images in the same order.
fn first() -> Result<Visit, Strangers> {
    let own: Visit = flakeforge_registry_1;
    let mut images = system::images(own as usize);
    let here = own_path(&images);
    // This copy is already among the images, where the WebAssembly looks for it, so one of the two sees the other.
    if let Some(there) = wasm_sign::file_in_use() {
        return Err(Strangers { here, there });
    }
    let at = images.iter().position(|image| image.is_own || image.visit.is_some() || image.is_named_as_addon());
    let Some(image) = at.map(|at| images.swap_remove(at)) else { return Ok(own) };
    if image.is_own {
        return Ok(own);
    }
    image.visit.ok_or(Strangers { here, there: image.path })
}

fn own_path(images: &[Image]) -> String {
    images.iter().find(|image| image.is_own).map(|image| image.path.clone()).unwrap_or_default()
}

/// The function at an address that the system returned for [`NAME`].
fn function(address: *mut c_void) -> Option<Visit> {
    // SAFETY: a function of this name has this type in every release.
    (!address.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, Visit>(address) })
}

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "netbsd",
    target_vendor = "apple"
))]
mod system {
    use std::ffi::CStr;

    use super::{Image, NAME, Visit, function};

    /// The function in the image of this path, if it exists and is not in an image that this one depends on. The image stays
    /// loaded.
    fn visit_in(path: &CStr, place: &Place) -> Option<Visit> {
        // SAFETY: the path is a C string, and nothing is loaded that is not loaded already.
        let image = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        if image.is_null() {
            return None;
        }
        // SAFETY: the image was just opened, and the name is a C string.
        let address = unsafe { libc::dlsym(image, NAME.as_ptr()) };
        if address.is_null() || !place.contains(address.expose_provenance()) {
            // SAFETY: this undoes the `dlopen` above.
            unsafe { libc::dlclose(image) };
            return None;
        }
        function(address)
    }

    /// The images from the first one to the copy that contains `own`, in loading order.
    pub fn images(own: usize) -> Vec<Image> {
        let mut images = Vec::new();
        for (path, place) in loaded() {
            let is_own = place.contains(own);
            let visit = if is_own { None } else { visit_in(&path, &place) };
            images.push(Image { path: path.to_string_lossy().into_owned(), visit, is_own });
            if is_own {
                break;
            }
        }
        images
    }

    pub use list::{Place, loaded};

    #[cfg(not(target_vendor = "apple"))]
    mod list {
        use std::ffi::{CStr, CString, c_int, c_void};
        use std::ops::Range;

        /// The addresses of an image, from its program headers. Asking `dladdr` instead would search the symbols of an image
        /// at each call, and Node's are so many that this took half a millisecond of every start.
        pub struct Place(Range<usize>);

        impl Place {
            #[allow(clippy::cast_possible_truncation, reason = "addresses of this process fit")]
            fn of(info: &libc::dl_phdr_info) -> Self {
                // SAFETY: the system provides the address and number of the headers.
                let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
                let segments = || headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
                let start = segments().map(|header| header.p_vaddr as usize).min().unwrap_or_default();
                let end = segments().map(|header| (header.p_vaddr + header.p_memsz) as usize).max().unwrap_or_default();
                let at = |offset: usize| (info.dlpi_addr as usize).wrapping_add(offset);
                Self(at(start)..at(end))
            }

            pub fn contains(&self, address: usize) -> bool {
                self.0.contains(&address)
            }
        }

        /// Runs under a lock of the loader, so it calls nothing of the loader: a thread in `dlopen` takes the locks in
        /// another order, and both threads would wait forever.
        unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, found: *mut c_void) -> c_int {
            // SAFETY: the system passes an image, and the vector below, which no other code uses meanwhile.
            let (info, found) = unsafe { (&*info, &mut *found.cast::<Vec<(CString, Place)>>()) };
            if !info.dlpi_name.is_null() {
                // SAFETY: the name is a C string that lives as long as the image.
                let path = unsafe { CStr::from_ptr(info.dlpi_name) };
                found.push((path.to_owned(), Place::of(info)));
            }
            0
        }

        /// The images of this process, in loading order.
        pub fn loaded() -> Vec<(CString, Place)> {
            let mut found: Vec<(CString, Place)> = Vec::new();
            // SAFETY: `add` takes this vector, which outlives the call.
            unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut found).cast()) };
            found
        }
    }

    #[cfg(target_vendor = "apple")]
    mod list {
        use std::ffi::{CStr, CString, c_char, c_void};
        use std::mem::MaybeUninit;

        /// The start of an image. The images of the system share one region, so an image has no single range of addresses.
        pub struct Place(usize);

        impl Place {
            pub fn contains(&self, address: usize) -> bool {
                let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
                // SAFETY: the result has the right size, and zeros are a valid one.
                let start = unsafe {
                    libc::dladdr(std::ptr::with_exposed_provenance(address), info.as_mut_ptr());
                    info.assume_init().dli_fbase.expose_provenance()
                };
                start == self.0
            }
        }

        /// The images of this process, in loading order.
        pub fn loaded() -> Vec<(CString, Place)> {
            unsafe extern "C" {
                fn _dyld_image_count() -> u32;
                fn _dyld_get_image_name(index: u32) -> *const c_char;
                fn _dyld_get_image_header(index: u32) -> *const c_void;
            }
            // SAFETY: an index that is too high gives null.
            let image = |index| unsafe {
                let (name, header) = (_dyld_get_image_name(index), _dyld_get_image_header(index));
                (!name.is_null()).then(|| (CStr::from_ptr(name).to_owned(), Place(header.expose_provenance())))
            };
            // SAFETY: the function has no preconditions.
            let count = unsafe { _dyld_image_count() };
            // The system's own images are some hundred.
            let is_system = |path: &[u8]| path.starts_with(b"/usr/lib/") || path.starts_with(b"/System/");
            (0..count).filter_map(image).filter(|(path, _)| !is_system(path.to_bytes())).collect()
        }
    }
}

#[cfg(windows)]
mod system {
    use std::ffi::{c_char, c_void};
    use std::ptr::null_mut;

    use super::{Image, NAME, Visit, function};

    const FROM_ADDRESS: u32 = 4;
    const PIN: u32 = 1;
    const LONGEST: u16 = 32_768;

    type Module = *mut c_void;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetCurrentProcess() -> *mut c_void;
        fn K32EnumProcessModules(process: *mut c_void, modules: *mut Module, size: u32, needed: *mut u32) -> i32;
        fn GetModuleFileNameW(module: Module, name: *mut u16, size: u32) -> u32;
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut Module) -> i32;
        fn GetProcAddress(module: Module, name: *const c_char) -> *mut c_void;
    }

    /// The modules of this process, in loading order.
    fn modules() -> Vec<Module> {
        let mut modules = vec![null_mut(); 256];
        loop {
            let size = u32::try_from(modules.len() * size_of::<Module>()).unwrap_or_default();
            let mut needed = 0;
            // SAFETY: the vector has room for `size` bytes.
            let listed =
                unsafe { K32EnumProcessModules(GetCurrentProcess(), modules.as_mut_ptr(), size, &raw mut needed) };
            let count = if listed == 0 { 0 } else { needed as usize / size_of::<Module>() };
            let is_all = count <= modules.len();
            modules.resize(count, null_mut());
            if is_all {
                return modules;
            }
        }
    }

    fn path_of(module: Module) -> String {
        let mut name = vec![0; LONGEST.into()];
        // SAFETY: the vector has room for this many characters.
        let len = unsafe { GetModuleFileNameW(module, name.as_mut_ptr(), LONGEST.into()) };
        String::from_utf16_lossy(&name[..len as usize])
    }

    /// The module that contains an address. It is never unloaded if `flags` has `PIN`.
    fn module_at(address: usize, flags: u32) -> Module {
        let mut module = null_mut();
        // SAFETY: with this flag, the name is an address.
        unsafe {
            GetModuleHandleExW(FROM_ADDRESS | flags, std::ptr::with_exposed_provenance(address), &raw mut module)
        };
        module
    }

    fn visit_in(module: Module) -> Option<Visit> {
        // SAFETY: the name is a C string; a module that was unloaded meanwhile has no such function.
        let address = unsafe { GetProcAddress(module, NAME.as_ptr()) };
        (!address.is_null() && module_at(address.expose_provenance(), PIN) == module)
            .then(|| function(address))
            .flatten()
    }

    /// The images from the first one to the copy that contains `own`, in loading order.
    pub fn images(own: usize) -> Vec<Image> {
        let own = module_at(own, PIN);
        let mut modules = modules();
        let end = modules.iter().position(|&module| module == own).map_or(modules.len(), |at| at + 1);
        let image = |module: Module| {
            let is_own = module == own;
            Image { path: path_of(module), visit: if is_own { None } else { visit_in(module) }, is_own }
        };
        modules.drain(..end).map(image).collect()
    }
}

/// On systems that do not list a process's images, each copy has a separate registry. No binary is published for these
/// systems.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "netbsd",
    target_vendor = "apple",
    windows
)))]
mod system {
    use super::Image;

    pub fn images(_own: usize) -> Vec<Image> {
        Vec::new()
    }
}
