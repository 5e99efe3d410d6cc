//! AES-CMAC against the examples of RFC 4493, and of SP 800-38B for longer keys.

use super::*;

const MESSAGE: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                       30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";

/// Key; how many bytes of the message; result.
const EXAMPLES: [(&str, usize, u128); 6] = [
    ("2b7e151628aed2a6abf7158809cf4f3c", 0, 0xbb1d6929e95937287fa37d129b756746),
    ("2b7e151628aed2a6abf7158809cf4f3c", 16, 0x070a16b46b4d4144f79bdd9dd04a287c),
    ("2b7e151628aed2a6abf7158809cf4f3c", 40, 0xdfa66747de9ae63030ca32611497c827),
    ("2b7e151628aed2a6abf7158809cf4f3c", 64, 0x51f0bebf7e3b9d92fc49741779363cfe),
    ("8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b", 16, 0x9e99a7bf31e710900662f65e617c5184),
    ("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4", 64, 0xe1992190549f6ed5696a2c056c315410),
];

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn the_examples_of_the_standard() {
    let message = bytes(MESSAGE);
    for (key, length, expected) in EXAMPLES {
        let cipher = Cipher::new(&bytes(key)).unwrap();
        assert_eq!(cmac(&cipher, &message[..length]), expected, "{key} {length}");
    }
}
