// Generates seal.json with the FF1 of Bouncy Castle, which shares no code with ours: make.sh runs it. First it checks itself
// with the samples of NIST SP 800-38G. It uses nothing of flakeforge.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.bouncycastle.crypto.fpe.FPEFF1Engine;
import org.bouncycastle.crypto.params.FPEParameters;
import org.bouncycastle.crypto.params.KeyParameter;

class SealVectors {
  // The guide docs/data/public-ids.md shows what is between these two lines.
  // <guide>
  /** The ID behind a seal: FF1 over the 64 bits, the most significant first, in radix 2. */
  static long open(byte[] key, byte[] tweak, long sealed) {
    return ff1(false, key, tweak, sealed);
  }

  static long ff1(boolean seal, byte[] key, byte[] tweak, long id) {
    byte[] digits = new byte[64];
    for (int i = 0; i < 64; i++) digits[i] = (byte) (id >>> (63 - i) & 1);
    var engine = new FPEFF1Engine();
    engine.init(seal, new FPEParameters(new KeyParameter(key), 2, tweak));
    engine.processBlock(digits, 0, 64, digits, 0);
    long result = 0;
    for (byte digit : digits) result = result << 1 | digit;
    return result;
  }
  // </guide>

  static final HexFormat HEX = HexFormat.of();
  static final String KEY = "2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94";
  static final String DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

  /** Key bytes, radix, tweak, plain text and result: https://csrc.nist.gov, "FF1samples". */
  static final Object[][] SAMPLES = {
    {16, 10, "", "0123456789", "2433477484"},
    {16, 10, "39383736353433323130", "0123456789", "6124200773"},
    {16, 36, "3737373770717273373737", "0123456789abcdefghi", "a9tv40mll9kdu509eum"},
    {24, 10, "", "0123456789", "2830668132"},
    {24, 10, "39383736353433323130", "0123456789", "2496655549"},
    {24, 36, "3737373770717273373737", "0123456789abcdefghi", "xbj3kv35jrawxv32ysr"},
    {32, 10, "", "0123456789", "6657667009"},
    {32, 10, "39383736353433323130", "0123456789", "1001623463"},
    {32, 36, "3737373770717273373737", "0123456789abcdefghi", "xs8a0azh2avyalyzuwd"},
  };

  static byte[] key(int bytes) {
    return HEX.parseHex(KEY, 0, bytes * 2);
  }

  static void check(Object[] sample) {
    String plain = (String) sample[3];
    byte[] digits = new byte[plain.length()];
    for (int i = 0; i < digits.length; i++) digits[i] = (byte) DIGITS.indexOf(plain.charAt(i));
    var engine = new FPEFF1Engine();
    byte[] tweak = HEX.parseHex((String) sample[2]);
    engine.init(true, new FPEParameters(new KeyParameter(key((int) sample[0])), (int) sample[1], tweak));
    engine.processBlock(digits, 0, digits.length, digits, 0);
    var result = new StringBuilder();
    for (byte digit : digits) result.append(DIGITS.charAt(digit));
    if (!result.toString().equals(sample[4])) throw new AssertionError(result + " is not " + sample[4]);
  }

  /** No tweak, a name, and every length around those at which FF1 needs another block of AES. */
  static List<byte[]> tweaks() {
    var all = new ArrayList<byte[]>();
    all.add("orders".getBytes(StandardCharsets.UTF_8));
    for (int length : new int[] {0, 1, 10, 11, 12, 15, 16, 17, 27, 28, 255, 256}) {
      byte[] tweak = new byte[length];
      for (int i = 0; i < length; i++) tweak[i] = (byte) (i * 7 + length);
      all.add(tweak);
    }
    return all;
  }

  /** The ends, halves that are all zeros or all ones, real IDs one after the other, and numbers spread over 64 bits. */
  static List<Long> ids() {
    var all = new ArrayList<Long>();
    for (String id : "0 1 2 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551614".split(" "))
      all.add(Long.parseUnsignedLong(id));
    for (long id : new long[] {0xffffffffL, 0xffffffff00000000L, 0x100000000L, 0x687e488989127000L, 0x687e488989127001L})
      all.add(id);
    for (long i = 1; i <= 4; i++) all.add(i * 0x9e3779b97f4a7c15L);
    return all;
  }

  public static void main(String[] args) {
    for (Object[] sample : SAMPLES) check(sample);
    var groups = new ArrayList<String>();
    for (int bytes : new int[] {16, 24, 32})
      for (byte[] tweak : tweaks()) {
        var rows = new ArrayList<String>();
        for (long id : ids()) {
          long sealed = ff1(true, key(bytes), tweak, id);
          if (open(key(bytes), tweak, sealed) != id) throw new AssertionError("Bouncy Castle does not open it");
          rows.add(String.format("[\"%016x\",\"%016x\"]", id, sealed));
        }
        String names = String.format("\"key\":\"%s\",\"tweak\":\"%s\"", HEX.formatHex(key(bytes)), HEX.formatHex(tweak));
        groups.add("  {" + names + ",\"ids\":[" + String.join(",", rows) + "]}");
      }
    System.out.println("{");
    System.out.println(
        " \"about\": \"Under this key and tweak, each ID and what it is sealed; all in hex. Made by Bouncy Castle " + args[0]
            + ": __test__/vectors/seal/make.sh makes it again.\",");
    System.out.println(" \"seals\": [\n" + String.join(",\n", groups) + "\n ]\n}");
  }
}
