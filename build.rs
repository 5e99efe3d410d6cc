//! Link arguments that an N-API addon needs on each platform; `-z nodelete` among them, so that the
//! registry survives the worker thread that loaded it.
fn main() {
    napi_build::setup();
}
