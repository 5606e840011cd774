import { deflateRawSync, gzipSync } from 'node:zlib'

/** The first bytes of files of many types, each as short as its format allows. */
const ascii = (text: string) => Buffer.from(text, 'latin1')
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const box = (brand: string) =>
  Buffer.concat([hex('00000018'), ascii(`ftyp${brand}`), hex('00000000'), ascii(brand), ascii('isom')])
const riff = (kind: string) =>
  Buffer.concat([ascii('RIFF'), hex('24000000'), ascii(kind), ascii('fmt '), hex('10000000 01000100')])
const ebml = (type: string) => {
  const doctype = Buffer.concat([hex('4282'), Buffer.from([0x80 | type.length]), ascii(type)])
  return Buffer.concat([hex('1a45dfa3'), Buffer.from([0x80 | doctype.length]), doctype])
}
const ogg = (codec: string) =>
  Buffer.concat([ascii('OggS'), hex('0002'), Buffer.alloc(20), hex('011e'), ascii(codec), Buffer.alloc(20)])

/** A ZIP archive with one file in it. */
function zip(name: string, content: string): Buffer {
  const data = deflateRawSync(content)
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt16LE(8, 8)
  head.writeUInt32LE(data.length, 18)
  head.writeUInt32LE(content.length, 22)
  head.writeUInt16LE(name.length, 26)
  return Buffer.concat([head, ascii(name), data])
}

function tar(): Buffer {
  const block = Buffer.alloc(1024)
  block.write('a.txt\0', 0)
  block.write('0000644\0'.repeat(3), 100)
  block.write('00000000001\0', 124)
  block.write('00000000000\0', 136)
  block.write('        0', 148)
  block.write('ustar\x0000', 257)
  const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

const SAMPLES = {
  png: Buffer.concat([
    hex('89504e470d0a1a0a 0000000d'),
    ascii('IHDR'),
    hex('0000000100000001 0802000000 00000000'),
    hex('00000001'),
    ascii('IDAT'),
    Buffer.alloc(9),
  ]),
  jpeg: Buffer.concat([hex('ffd8ffe0 0010'), ascii('JFIF\0'), hex('010100000100010000 ffdb')]),
  gif: Buffer.concat([ascii('GIF89a'), hex('0100010080000000000000')]),
  webp: Buffer.concat([ascii('RIFF'), hex('1a000000'), ascii('WEBPVP8L'), hex('0d000000')]),
  bmp: Buffer.concat([ascii('BM'), hex('460000000000000036000000 28000000')]),
  tiff: hex('49492a0008000000 0100 0001 0300 01000000 01000000 00000000'),
  heic: box('heic'),
  avif: box('avif'),
  ico: hex('00000100 0100 1010 0000 01002000'),
  psd: Buffer.concat([ascii('8BPS'), hex('0001'), Buffer.alloc(20)]),
  mp4: box('isom'),
  mov: box('qt  '),
  m4a: box('M4A '),
  webm: ebml('webm'),
  mkv: ebml('matroska'),
  avi: riff('AVI '),
  mp3: Buffer.concat([ascii('ID3'), hex('0400 00 00004000'), ascii('TIT2'), Buffer.alloc(100)]),
  wav: riff('WAVE'),
  flac: Buffer.concat([ascii('fLaC'), hex('00000022'), Buffer.alloc(34)]),
  ogg: ogg('vorbis'),
  pdf: ascii('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n1 0 obj\n<< /Type /Catalog >>\nendobj\n'),
  zip: zip('a.txt', 'hello'),
  docx: zip(
    '[Content_Types].xml',
    '<Types><Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
  ),
  gz: gzipSync('hello'),
  '7z': Buffer.concat([hex('377abcaf271c 0004'), Buffer.alloc(24)]),
  rar: hex('526172211a0701 00 3392b5e5'),
  tar: tar(),
  exe: Buffer.concat([ascii('MZ'), hex('90000300000004000000ffff0000'), Buffer.alloc(50)]),
  elf: Buffer.concat([hex('7f454c46 02010100'), Buffer.alloc(56)]),
  sqlite: Buffer.concat([ascii('SQLite format 3\0'), hex('1000 0101 0040 2020')]),
  woff2: Buffer.concat([ascii('wOF2'), hex('00010000'), Buffer.alloc(40)]),
  wasm: hex('0061736d 01000000'),
  doc: Buffer.concat([hex('d0cf11e0a1b11ae1'), Buffer.alloc(504)]),
  text: Buffer.from('Größe: 5 €\r\nsecond line\n'),
  json: Buffer.from('{"a": [1, 2, "é"]}\n'),
  html: Buffer.from('<!doctype html><title>x</title><script>alert(1)</script>'),
  svg: Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
  csv: Buffer.from('name;value\nä;1\n'),
  latin1: ascii('Gr\u00f6\u00dfe: 5\n'),
  utf16: Buffer.from('\ufeffhello', 'utf16le'),
  noise: hex('9b0c7fd3a1ee5500c4f891e29d3a'),
  empty: Buffer.alloc(0),
} as const
export type SampleName = keyof typeof SAMPLES

export const sampleOf = (name: SampleName): Buffer => SAMPLES[name]

export const TRUE_FILES: [declared: string, sample: SampleName][] = [
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['image/bmp', 'bmp'],
  ['image/tiff', 'tiff'],
  ['image/heic', 'heic'],
  ['image/avif', 'avif'],
  ['image/vnd.microsoft.icon', 'ico'],
  ['image/vnd.adobe.photoshop', 'psd'],
  ['video/mp4', 'mp4'],
  ['video/quicktime', 'mov'],
  ['audio/mp4', 'm4a'],
  ['video/webm', 'webm'],
  ['video/x-matroska', 'mkv'],
  ['video/x-msvideo', 'avi'],
  ['audio/mpeg', 'mp3'],
  ['audio/wav', 'wav'],
  ['audio/flac', 'flac'],
  ['audio/ogg; codecs=vorbis', 'ogg'],
  ['Application/PDF', 'pdf'],
  ['application/zip', 'zip'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/gzip', 'gz'],
  ['application/x-7z-compressed', '7z'],
  ['application/vnd.rar', 'rar'],
  ['application/x-tar', 'tar'],
  ['application/vnd.sqlite3', 'json'],
  ['font/woff2', 'woff2'],
  ['application/wasm', 'wasm'],
  ['application/msword', 'doc'],
  ['text/plain; charset=utf-8', 'text'],
  ['application/json', 'json'],
  ['text/html', 'html'],
  ['image/svg+xml', 'svg'],
  ['text/csv', 'csv'],
  ['audio/x-mpegurl', 'text'],
  ['application/xml', 'svg'],
]

export const LIARS: [declared: string, sample: SampleName, found: string][] = [
  ['image/png', 'jpeg', 'image/jpeg'],
  ['image/png', 'exe', 'application/x-msdownload'],
  ['image/png', 'text', 'text/plain'],
  ['image/png', 'html', 'text/plain'],
  ['image/png', 'svg', 'text/plain'],
  ['image/png', 'empty', 'application/x-empty'],
  ['image/x-unknown', 'html', 'text/plain'],
  ['video/unknown', 'text', 'text/plain'],
  ['image/png', 'noise', 'application/octet-stream'],
  ['image/jpeg', 'png', 'image/png'],
  ['image/jpeg', 'pdf', 'application/pdf'],
  ['image/jpg', 'gif', 'image/gif'],
  ['image/gif', 'webp', 'image/webp'],
  ['image/webp', 'wav', 'audio/wav'],
  ['image/tiff', 'bmp', 'image/bmp'],
  ['image/heic', 'mp4', 'video/mp4'],
  ['image/vnd.microsoft.icon', 'png', 'image/png'],
  ['image/svg+xml', 'png', 'image/png'],
  ['video/mp4', 'webm', 'video/webm'],
  ['video/mp4', 'elf', 'application/x-elf'],
  ['video/webm', 'mov', 'video/quicktime'],
  ['video/x-msvideo', 'wav', 'audio/wav'],
  ['audio/mpeg', 'flac', 'audio/flac'],
  ['audio/wav', 'mp3', 'audio/mpeg'],
  ['application/pdf', 'zip', 'application/zip'],
  ['application/pdf', 'html', 'text/plain'],
  ['application/zip', 'gz', 'application/gzip'],
  ['application/zip', 'rar', 'application/x-rar-compressed'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'doc', 'application/x-cfb'],
  ['application/msword', 'pdf', 'application/pdf'],
  ['application/x-tar', '7z', 'application/x-7z-compressed'],
  ['font/woff2', 'sqlite', 'application/x-sqlite3'],
  ['text/plain', 'png', 'image/png'],
  ['text/plain', 'exe', 'application/x-msdownload'],
  ['text/plain', 'latin1', 'application/octet-stream'],
  ['text/plain', 'utf16', 'application/octet-stream'],
  ['text/csv', 'docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['application/json', 'wasm', 'application/wasm'],
  ['application/x-unknown', 'noise', 'application/octet-stream'],
]
