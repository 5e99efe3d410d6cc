// The short forms of an ID that `flakeforge inspect` reads: how a text is read, and when the output says that it is
// ambiguous.

import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'
import { ALPHABETS, bufferOf, FlakeId, holds, ids, widthOf } from '../support/index.mjs'

const { joinBytes, readId } = createRequire(import.meta.url)('../../target/rooms/lib/reading/text-forms.js')
const { format, isId, Layout, layouts, parse, toBigInt } = FlakeId

const BASES = Object.keys(ALPHABETS)
const OUR_DAYS = 7529535382561648641n

test('every base: its text is read correctly with its name, and never as another ID without it', (t) => {
  for (const base of ['dec', 'hex', 'bin', 'oct', ...BASES.filter((base) => base !== 'tid')]) {
    holds(t, [ids], (id) => {
      const text = format(bufferOf(id), base)
      if (readId(text, base).id !== id) return false
      try {
        const { id: found, form, note } = readId(text)
        return found === id || (form === 'dec' && /^\d+n?$/.test(text)) || (form === 'tid' && note.includes(base))
      } catch ({ code, message }) {
        return code === 'ERR_FLAKE_ID' && (message.includes(`${base} (${id})`) || message.includes('is not an ID'))
      }
    })
  }
})

test('a present-day flake ID: the text of any base but two is unambiguous, and those two list the possible readings', (t) => {
  for (const base of ['dec', 'hex', 'bin', 'oct', 'base32', 'base36']) {
    t.like(readId(format(OUR_DAYS, base)), { id: OUR_DAYS, form: base })
  }
  for (const [text, readings] of [
    ['JUrwdiaVgBq', 'base58 (7530614023172141056) or base62 (16364579083188061198)'],
    ['8yII7PIfwhs', 'base64 (17519575314192122395) or base62 (7530614051466915840)'],
  ]) {
    t.throws(() => readId(text), {
      code: 'ERR_FLAKE_ID',
      message: `'${text}' could be ${readings}. Specify its form.`,
    })
  }
})

test('a UUID is recognised as that of the layout that generated it', (t) => {
  for (const [name, layout] of Object.entries(layouts)) {
    const id = toBigInt(layout.encode({ timestamp: 1_780_000_000_000 }))
    t.is(readId(layout.toUuid(id)).id, id, name)
  }
  const own = new Layout('flake', { epoch: 5 })
  t.is(readId(own.toUuid(OUR_DAYS), undefined, own).id, OUR_DAYS)
  t.throws(() => readId(own.toUuid(OUR_DAYS)), { code: 'ERR_FLAKE_ID' })
})

for (const base of BASES) {
  test(`${base}: text above 2^64 is not of these bases`, (t) => {
    const text = ALPHABETS[base].at(-1).repeat(widthOf(ALPHABETS[base], 8))
    t.throws(() => readId(text), { message: /is not an ID.*base36.*base58 or base62/ })
    t.throws(() => readId(text, base), { message: `'${text}' is not an ID in the form ${base}.` })
  })
}

test('lower-case letters are base 32 as well, and where base 36 would write them too, both are listed', (t) => {
  t.like(readId('6gzj8h64n4w00'), { form: 'base32' })
  t.like(readId('2ZZZZZZZZZZZ0'), { form: 'base32' })
  t.is(readId('1l7etj6f2oi68').form, 'base36')
  t.throws(() => readId('2zzzzzzzzzzz0'), { message: /could be base32 \(\d+\) or base36 \(\d+\)/ })
})

test('digits alone are decimal, and a note lists the other readings', (t) => {
  t.is(readId('1234567890123456').note, 'read as decimal: 16 digits could be hex (write 0x) too')
  t.is(readId('12345678901').note, 'read as decimal: 11 digits could be base58 or base62 too')
  t.is(readId('1234567890123').note, 'read as decimal: 13 digits could be base32 or base36 too')
  t.is(readId('7529535382561648641').note, undefined)
})

test('short codes of Instagram: listed next to base 62, and read with their name', (t) => {
  // the first one and its date are from a public report; the others are in public links
  for (const [code, id, day] of [
    ['CTFlHsmpEVW', 2649687212427593046n, '2021-08-27'],
    ['CUbHfhpswxt', 2673763756536958061n, '2021-09-29'],
    ['DItX5KfIw3Z', 3615651159188114905n, '2025-04-21'],
    ['CzpAOmcPU1e', 3236118810591055198n, '2023-11-14'],
  ]) {
    t.is(readId(code, 'instagram').id, id)
    t.is(layouts.instagram.decode(id).date.toISOString().slice(0, 10), day)
    t.throws(() => readId(code), { message: new RegExp(`base62 \\(\\d+\\) or instagram \\(${id}\\)`) })
  }
  t.is(readId('fA', 'instagram').id, 31n * 64n, 'the codes of the first posts are short')
  t.like(readId('C_-abcdefg-'), { form: 'instagram' }, 'base 62 has no such digits')
  for (const wrong of ['Q__________', 'CTFlHsmpEVWa', '', 'CTFl.smpEVW'])
    t.throws(() => readId(wrong, 'instagram'), { code: 'ERR_FLAKE_ID' }, wrong)
})

test('TIDs: those of 2022 to 2037 are read as such, in lower case only, and a note says what else they could be', (t) => {
  for (const [text, id] of [
    ['3lbv3urcj3s2t', 1774244349168640025n],
    ['3jzfcijpj2z2a', 1728652679052295174n],
  ]) {
    t.like(readId(text), { id, form: 'tid', note: 'read as tid: it could be base36 too' })
    t.is(toBigInt(parse(text, 'tid')), id)
    t.is(readId(text, 'base36').form, 'base36')
  }
  const [first, last] = ['3j22222222222', '3wzzzzzzzzzzz'].map((text) => toBigInt(parse(text, 'tid')))
  t.is(layouts.tid.decode(first).date.getUTCFullYear(), 2022)
  t.is(layouts.tid.decode(last).date.toISOString().slice(0, 10), '2038-01-04')
  holds(t, [fc.bigInt({ min: first, max: last })], (id) => {
    const text = format(id, 'tid')
    const found = readId(text)
    const others = [...(isId(text, 'base36') ? ['base36'] : []), ...(/[ilou]/.test(text) ? [] : ['base32'])]
    return found.id === id && found.form === 'tid' && others.every((base) => found.note.includes(base))
  })
  t.is(layouts.tid.decode(readId('3lbv3urcj3s2t').id).date.toISOString(), '2024-11-26T22:34:57.235Z')
  t.is(readId('2jzfcijpj2z2a', 'tid').form, 'tid', 'others by their name')
  t.is(readId('3JZFCYJPJ2Z2A').form, 'base32')
  t.is(readId('2jzfcijpj2z2a').form, 'base36')
})

test('digits lost in a spreadsheet: rejected, or reported where zeros replace them; its apostrophe is not part of the ID', (t) => {
  for (const text of ['1.54182E+18', '1,54182E+18', '1.5E+18', '2E+18', '1.541815603606036e18'])
    t.throws(() => readId(text), { code: 'ERR_FLAKE_ID', message: /digits were lost.*as text/ }, text)
  for (const text of ['1541815603606030000', '7529535382561640000', '175928847299110000'])
    t.regex(readId(text).note, /^digits were lost if/)
  t.is(readId('1541815603606036480').note, undefined)
  t.is(readId("'1541815603606036480").id, 1541815603606036480n)
  for (const text of ['1.54182E+18', '1,5E+18'])
    t.throws(() => toBigInt(text), { code: 'ERR_FLAKE_ID', message: /digits were lost/ })
  t.false(FlakeId.isId('1.54182E+18'))
})

test('a prefix is removed, and the note says so', (t) => {
  for (const base of ['dec', 'hex', 'bin', 'oct', 'base32', 'base36']) {
    for (const prefix of ['ord_', 'order_line_2_', 'a_']) {
      const text = format(OUR_DAYS, base, { prefix })
      t.like(readId(text), { id: OUR_DAYS, form: base, note: `without the prefix ${prefix}` }, text)
    }
  }
  t.like(readId('ORD_0x687e488989127001'), { id: 0x687e488989127001n, form: 'hex' })
  holds(t, [ids], (id) => readId(format(id, 'base58', { prefix: 'ord_' }), 'base58').id === id)
  for (const wrong of ['ord_', '_5', '1_5', 'ord_-5', 'ord_5_', 'a_very_long_prefix_5', 'ord-5'])
    t.throws(() => readId(wrong), { code: 'ERR_FLAKE_ID', message: /is not an ID/ })
})

test('eleven characters that could also be base64 are listed with both', (t) => {
  t.like(readId('ord_1234567'), { id: 1234567n, form: 'dec' }) // the last character of 8 bytes has two zero bits
  t.is(readId('ord_1234564', 'base64').form, 'base64')
  t.throws(() => readId('ord_1234564'), { message: /could be base64 \(\d+\) or dec \(1234564\)/ })
})

test('texts of Instagram: codes of before 2016, codes of private posts, and media IDs', (t) => {
  // public reports, with created_time or taken_at beside the code or ID
  for (const [text, id, ms] of [
    ['mIjxznkpWg', 686956297481000352n, 1396111593],
    ['281307455758330158_11302361', 281307455758330158n, 1347754483],
  ]) {
    const { id: found, form, note } = readId(text)
    t.deepEqual([found, form], [id, 'instagram'])
    t.regex(note, /before 2016|user|media/)
    t.is(Math.floor(layouts.instagram.decode(found).timestamp / 1000), ms)
  }
  t.regex(readId('281307455758330158_11302361').note, /11302361 is its user/)
  const key = 'x-Y_z0123456789abcdefABCDEFG'
  for (const code of ['CTFlHsmpEVW', 'mIjxznkpWg']) {
    const { id, form, note } = readId(code + key)
    t.deepEqual([id, form], [readId(code, 'instagram').id, 'instagram'])
    t.true(note.includes(`private short code: ${code}; the last 28 characters are its key`), note)
  }
  for (const word of ['created_at', 'customerid', 'CUSTOMERID', 'Order_1234', `CTFlHsmpEVW${key}x`])
    t.not(readIdOr(word)?.form, 'instagram', word)
})

const readIdOr = (text) => {
  try {
    return readId(text)
  } catch {
    return undefined
  }
}

test("a time of Chronicle as Chronicle writes it: without its last zeros, with Z or an offset, and a plain time's note", (t) => {
  for (const [text, id] of [
    ['2021-12-28T14:07:02.954100128', 1640700422954100128n],
    ['2021-12-28T14:07:02.9541001Z', 1640700422954100100n],
    ['2021-12-28T15:07:02.954100128+01:00', 1640700422954100128n],
  ])
    t.deepEqual(readId(text), { id, form: 'time', isExact: true, note: undefined })
  t.regex(readId('2021-12-28T14:07:02.954Z').note, /plain time is no ID/)
  const micros = layouts['chronicle-micros']
  t.is(readId('2021-12-28T14:07:02.954228', undefined, micros).id, 1640700422954228n, 'of the layout that is named')
  for (const wrong of ['2021-02-30T14:07:02.954100128', '2021-12-28T14:07:02.954100128+99:00', '1960-01-01T00:00:00'])
    t.throws(() => readId(wrong), { code: 'ERR_FLAKE_ID' }, wrong)
})

test('bits in groups, as format and inspect write them, are bits, and other numbers of bits are not', (t) => {
  holds(t, [ids], (id) => {
    const texts = [1, 3, 4, 5, 8, 16, 32].flatMap((groupsize) =>
      [' ', '_', ':', '-', '.'].map((delimiter) => format(bufferOf(id), 'bin', { groupsize, delimiter })),
    )
    return texts.every((text) => readId(text).id === id) && readId(`0b${texts[0]}`).id === id
  })
  const id = 5827048346035945473n
  const grouped = format(id, 'bin', { groupsize: 4 })
  t.is(toBigInt(parse(grouped, 'bin')), id)
  t.is(readId('010100001101110111010101100110010000001010 00000        00000    000000000001').id, id)
  t.deepEqual(joinBytes(['5', ...grouped.split(' '), '7']), ['5', grouped, '7'])
  t.deepEqual(joinBytes(['1', '10', '11']), ['1', '10', '11'], 'decimal')
  for (const wrong of [grouped.slice(5), `${grouped} 0000`, grouped.replace('1', '2')])
    t.throws(() => readId(wrong), { code: 'ERR_FLAKE_ID' }, wrong)
  for (const wrong of ['01  01', ' 01', '01 ', '0 2'])
    t.throws(() => parse(wrong, 'bin'), { code: 'ERR_FLAKE_ID' }, wrong)
  t.throws(() => parse('12 34', 'dec'), { code: 'ERR_FLAKE_ID' })
})
