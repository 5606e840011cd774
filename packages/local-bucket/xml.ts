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
  // biome-ignore lint/suspicious/noControlCharactersInRegex: keys may hold them, and XML wants them as references
  return text.replace(/[&<>"\u0000-\u001f]/g, (character) => `&#${character.charCodeAt(0)};`)
}
