//! The answers that codecs in other languages are compared with are what the core says.

#[allow(dead_code)]
#[path = "../../examples/codec.rs"]
mod codec;

const VECTORS: &str = include_str!("../../../__test__/vectors/codec.jsonl");

#[test]
fn the_vectors_of_the_codec_are_what_the_core_says() {
    let lines: Vec<_> = VECTORS.lines().collect();
    assert!(lines.len() > 100);
    for pair in lines.chunks(2) {
        let question = serde_json::from_str(pair[0]).unwrap();
        let answer = codec::answer(&question).unwrap();
        assert_eq!(answer.to_string(), pair[1], "run `npm run codec:vectors`: {question}");
    }
}
