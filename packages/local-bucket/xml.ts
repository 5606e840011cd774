import { S3Error } from './s3-error.ts'

const NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** An element: its name, and its text or its children. Undefined children are left out. */
export type XmlElement = [name: string, content: string | number | boolean | (XmlElement | undefined)[]]

export function writeXml(root: XmlElement, options: { namespace: boolean } = { namespace: true }): string {
  const attributes = options.namespace ? ` xmlns="${NAMESPACE}"` : ''
  return `<?xml version="1.0" encoding="UTF-8"?>\n${writeElement(root, attributes)}`
}

function writeElement([name, content]: XmlElement, attributes = ''): string {
  const inner = Array.isArray(content)
    ? content.map((child) => (child === undefined ? '' : writeElement(child))).join('')
    : escapeText(String(content))
  return `<${name}${attributes}>${inner}</${name}>`
}

function escapeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys may contain them; XML requires references
  return text.replace(/[&<>"\u0000-\u001f]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/**
 * Parses the simple XML that clients send: elements and text. Attributes are skipped; comments, CDATA, document types
 * and unknown entities are refused, so that no document can expand or fetch anything.
 */
export interface XmlNode {
  name: string
  text: string
  children: XmlNode[]
}

const MAX_DEPTH = 8
const TOKEN = /<\?[^>]*\?>|<(\/?)([A-Za-z][\w.-]*)((?:\s[^<>]*?)?)(\/?)>|([^<]+)/y
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

export function readXml(text: string): XmlNode {
  const document: XmlNode = { name: '', text: '', children: [] }
  const open = [document]
  for (const [, closing, name, , selfClosing, characters] of tokens(text)) {
    const parent = open.at(-1)!
    if (characters !== undefined) parent.text += decodeEntities(characters)
    else if (closing) {
      if (open.length === 1 || parent.name !== name) throw new S3Error('MalformedXML')
      open.pop()
    } else if (name !== undefined) {
      const node = { name, text: '', children: [] }
      parent.children.push(node)
      if (!selfClosing) open.push(node)
      if (open.length > MAX_DEPTH) throw new S3Error('MalformedXML')
    }
  }
  const [root, ...others] = document.children
  if (!root || others.length > 0 || open.length > 1 || document.text.trim() !== '')
    throw new S3Error('MalformedXML')
  return root
}

export function childText(node: XmlNode, name: string): string | undefined {
  return node.children.find((child) => child.name === name)?.text
}

function* tokens(text: string): Generator<RegExpExecArray> {
  TOKEN.lastIndex = 0
  let position = text.startsWith('\ufeff') ? 1 : 0
  while (position < text.length) {
    TOKEN.lastIndex = position
    const token = TOKEN.exec(text)
    if (!token) throw new S3Error('MalformedXML')
    position = TOKEN.lastIndex
    yield token
  }
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(\w+));|&/g, (_, decimal, hex, name) => {
    const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : undefined
    const character =
      code === undefined ? ENTITIES[name] : code <= 0x10ffff ? String.fromCodePoint(code) : undefined
    if (character === undefined) throw new S3Error('MalformedXML')
    return character
  })
}
