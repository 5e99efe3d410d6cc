//! Enums of the core as objects of JavaScript, with the conversions. napi's derive is not on the core's own enums: it reads
//! numbers without a check, has no type for an owner, and names the fields of `Granted(Grant)` `field0`.

/// Declares an enum for JavaScript and its conversion `into` an enum of the core or `from` it.
///
/// `= (…)` after a variant is the core's value, where that has another form: a pattern for `from`, an expression for `into`.
/// `= …` after a field is its conversion, where `.into()` is not. The description of the enum is a `#[doc = "…"]`: a doc
/// comment becomes a raw string here, whose `r"` napi copies into the types.
macro_rules! mirror {
    ($(#[$meta:meta])* pub enum $js:ident $direction:ident $core:ident { $(
        $(#[$doc:meta])*
        $name:ident
        $({ $($field:ident: $type:ident $(<$of:ty>)? $(= $value:expr)?),* $(,)? })?
        $(= ($($shape:tt)*))?
    ),* $(,)? }) => {
        $(#[$meta])*
        pub enum $js { $($(#[$doc])* $name $({ $($field: $type $(<$of>)?),* })?),* }

        mirror!(@$direction $js $core $(
            [$name $({ $($field),* })?]
            [$($($field = mirror!(@value $field $($value)?),)*)?]
            [mirror!(@shape [$core::$name $({ $($field),* })?] $([$($shape)*])?)]
        )*);
    };
    (@into $js:ident $core:ident $([$($given:tt)*] [$($field:ident = $value:expr,)*] [$shape:expr])*) => {
        impl From<$js> for $core {
            fn from(given: $js) -> Self {
                match given {
                    $($js::$($given)* => { $(let $field = $value;)* $shape })*
                }
            }
        }
    };
    (@from $js:ident $core:ident $([$name:ident $($given:tt)*] [$($field:ident = $value:expr,)*] [$shape:pat])*) => {
        impl From<$core> for $js {
            fn from(given: $core) -> Self {
                match given {
                    $($shape => Self::$name { $($field: $value),* },)*
                }
            }
        }
    };
    (@value $field:ident) => { $field.into() };
    (@value $field:ident $value:expr) => { $value };
    (@shape [$($same:tt)*]) => { $($same)* };
    (@shape [$($same:tt)*] [$($other:tt)*]) => { $($other)* };
}

pub(crate) use mirror;
