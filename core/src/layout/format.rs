//! The 64 bits of an ID as text.
//!
//! | base | digits | width |
//! |---|---|---|
//! | decimal, hexadecimal, octal | `0…9a…f` | no leading zeros |
//! | binary | `01` | eight digits per byte |
//! | base 32 | Crockford's: without I, L, O and U, which look like other digits or spell words | fixed |
//! | base 36 | `0…9a…z`, as `Number.prototype.toString(36)` writes them | fixed |
//! | base 58 | Bitcoin's: without 0, I, O and l, which look alike in many fonts | fixed |
//! | base 62 | `0…9A…Za…z` | fixed |
//! | TID | base 32 with AT Protocol's digits, `2…7a…z` | fixed |
//!
//! A fixed width is the number of digits of the largest number with that many bytes. For an ID, this is 13 in bases 32 and
//! 36 and in a TID, and 11 in bases 58 and 62. The digits of these bases are in ASCII order, so texts of one width sort like the numbers.

/// A base to write numbers in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// 10
    Dec,
    /// 16, lower case
    Hex,
    /// 2
    Bin,
    /// 8
    Oct,
    /// 32, Crockford's
    Base32,
    /// 36, lower case
    Base36,
    /// 58, Bitcoin's
    Base58,
    /// 62
    Base62,
    /// 32, AT Protocol's
    Tid,
}

const UP_TO_36: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const BITCOIN: &[u8] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const AT_PROTOCOL: &[u8] = b"234567abcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

impl Base {
    /// All bases, by the names that users write.
    pub const NAMES: [(&'static str, Self); 9] = [
        ("dec", Self::Dec),
        ("hex", Self::Hex),
        ("bin", Self::Bin),
        ("oct", Self::Oct),
        ("base32", Self::Base32),
        ("base36", Self::Base36),
        ("base58", Self::Base58),
        ("base62", Self::Base62),
        ("tid", Self::Tid),
    ];

    /// The base with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|row| row.0 == name).map(|row| row.1)
    }

    /// The number of digits.
    pub fn radix(self) -> u32 {
        match self {
            Self::Dec => 10,
            Self::Hex => 16,
            Self::Bin => 2,
            Self::Oct => 8,
            Self::Base32 | Self::Tid => 32,
            Self::Base36 => 36,
            Self::Base58 => 58,
            Self::Base62 => 62,
        }
    }

    /// Its digits in order; other characters may follow.
    pub fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Base32 => CROCKFORD,
            Self::Base58 => BITCOIN,
            Self::Base62 => ALPHANUMERIC,
            Self::Tid => AT_PROTOCOL,
            _ => UP_TO_36,
        }
    }

    /// The minimum number of digits for this many bytes.
    pub fn width(self, bytes: usize) -> usize {
        match self {
            Self::Dec | Self::Hex | Self::Oct => 1,
            Self::Bin | Self::Base32 | Self::Tid => (bytes * 8).div_ceil(self.radix().ilog2() as usize),
            // Never an integer, because no power of these bases is a power of 2. So an f64 is precise enough.
            Self::Base36 | Self::Base58 | Self::Base62 => {
                ((bytes * 8) as f64 / f64::from(self.radix()).log2()).ceil() as usize
            }
        }
    }
}

/// Buffer for an ID in any base.
pub type Text = [u8; 64];

/// Writes an ID as text into `room`.
///
/// ```
/// # use flakeforge_core::layout::format::{Base, id_digits};
/// assert_eq!(id_digits(33, Base::Base32, &mut [0; 64]), b"0000000000011"); // 13 digits for every ID, so texts sort like IDs
/// ```
pub fn id_digits(id: u64, base: Base, room: &mut Text) -> &[u8] {
    match base {
        Base::Dec => {
            let mut buffer = itoa::Buffer::new();
            let text = buffer.format(id).as_bytes();
            room[..text.len()].copy_from_slice(text);
            &room[..text.len()]
        }
        Base::Base36 => by_division::<36, 6>(id, base.alphabet(), room),
        Base::Base58 => by_division::<58, 5>(id, base.alphabet(), room),
        Base::Base62 => by_division::<62, 5>(id, base.alphabet(), room),
        Base::Hex => by_bits::<4>(id, base, room),
        Base::Bin => by_bits::<1>(id, base, room),
        Base::Oct => by_bits::<3>(id, base, room),
        Base::Base32 | Base::Tid => by_bits::<5>(id, base, room),
    }
}

/// For bases that are a power of 2: each digit is `BITS` bits.
fn by_bits<const BITS: u32>(id: u64, base: Base, room: &mut Text) -> &[u8] {
    let width = base.width(8).max((64 - id.leading_zeros()).div_ceil(BITS) as usize);
    let mut rest = id;
    for slot in room[..width].iter_mut().rev() {
        *slot = base.alphabet()[(rest & ((1 << BITS) - 1)) as usize];
        rest >>= BITS;
    }
    &room[..width]
}

/// For all other bases. An ID is one digit and two parts of `PART` digits. Each part fits 32 bits, and the divisions of the
/// two do not wait for each other. The compiler turns them into multiplications, because the divisor is a constant.
fn by_division<'a, const RADIX: u32, const PART: usize>(id: u64, alphabet: &[u8], room: &'a mut Text) -> &'a [u8] {
    let size = u64::from(RADIX.pow(PART as u32));
    let rest = id / size;
    let (first, mut middle, mut last) = (rest / size, (rest % size) as u32, (id % size) as u32);
    room[0] = alphabet[first as usize];
    for i in (1..=PART).rev() {
        room[i] = alphabet[(middle % RADIX) as usize];
        room[i + PART] = alphabet[(last % RADIX) as usize];
        (middle, last) = (middle / RADIX, last / RADIX);
    }
    &room[..=2 * PART]
}
