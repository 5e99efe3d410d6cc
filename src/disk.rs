//! Calls that wait for a disk: they run in a thread of Node's pool, and JavaScript gets a promise. A disk may take a second
//! for a sync, and other calls of the event loop should not wait for it.

use napi::bindgen_prelude::{Result, ToNapiValue, TypeName};

pub use system::Later;

/// Calls this in a thread. If the thread's environment ends meanwhile, the result is dropped: a slot is free again.
pub fn later<T: ToNapiValue + TypeName + Send + 'static>(
    call: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<Later<T>> {
    system::later(call)
}

#[cfg(not(target_family = "wasm"))]
mod system {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use napi::bindgen_prelude::{AsyncTask, Error, Result, ToNapiValue, TypeName};
    use napi::{Env, Task};

    /// A promise.
    pub type Later<T> = AsyncTask<Call<T>>;

    pub struct Call<T>(Option<Box<dyn FnOnce() -> Result<T> + Send>>);

    impl<T: ToNapiValue + TypeName + Send + 'static> Task for Call<T> {
        type Output = T;
        type JsValue = T;

        fn compute(&mut self) -> Result<T> {
            let call = self.0.take().ok_or_else(|| Error::from_reason("a task ran twice"))?;
            // As `catch_unwind` of napi does for functions: a panic in this thread would end the process.
            catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(Error::from_reason("the addon has panicked")))
        }

        fn resolve(&mut self, _env: Env, output: T) -> Result<T> {
            Ok(output)
        }
    }

    pub fn later<T: ToNapiValue + TypeName + Send + 'static>(
        call: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<Later<T>> {
        Ok(AsyncTask::new(Call(Some(Box::new(call)))))
    }
}

/// WebAssembly has no files to wait for: each call returns an error at once, and `await` accepts that as well.
#[cfg(target_family = "wasm")]
mod system {
    use napi::bindgen_prelude::Result;

    pub type Later<T> = T;

    pub fn later<T>(call: impl FnOnce() -> Result<T>) -> Result<Later<T>> {
        call()
    }
}
