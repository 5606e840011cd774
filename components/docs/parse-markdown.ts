/** The little of Markdown that the docs are written in, as data: a test holds the texts to it. */
export type Block =
  | { kind: 'heading'; depth: 1 | 2 | 3; text: string; id: string }
  | { kind: 'paragraph'; text: string }
  | { kind: 'list'; ordered: boolean; items: string[] }
  | { kind: 'table'; head: string[]; rows: string[][] }
  | { kind: 'code'; language: string; file?: string; code: string }
  | { kind: 'note'; text: string }

export function parseMarkdown(source: string): Block[] {
  const lines = source.split('\n')
  const blocks: Block[] = []
  let at = 0
  const take = (while_: (line: string) => boolean): string[] => {
    const start = at
    while (at < lines.length && while_(lines[at]!)) at += 1
    return lines.slice(start, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    const heading = line.match(/^(#{1,3}) (.+)$/)
    if (line.trim() === '') at += 1
    else if (heading) {
      at += 1
      const text = heading[2]!
      blocks.push({ kind: 'heading', depth: heading[1]!.length as 1 | 2 | 3, text, id: slugOf(text) })
    } else if (line.startsWith('```')) {
      at += 1
      const code = take((next) => !next.startsWith('```')).join('\n')
      at += 1
      // After the language stands the name of the file, where there is one.
      const [language = '', file] = line.slice(3).trim().split(' ')
      blocks.push({ kind: 'code', language, ...(file && { file }), code })
    } else if (line.startsWith('|')) {
      const [head, , ...rows] = take((next) => next.startsWith('|')).map(cells)
      blocks.push({ kind: 'table', head: head!, rows })
    } else if (line.startsWith('> ')) {
      blocks.push({
        kind: 'note',
        text: take((next) => next.startsWith('>'))
          .map((next) => next.slice(2))
          .join(' '),
      })
    } else if (/^(-|\d+\.) /.test(line)) {
      const ordered = !line.startsWith('-')
      blocks.push({ kind: 'list', ordered, items: listItems(take((next) => next.trim() !== '')) })
    } else blocks.push({ kind: 'paragraph', text: take((next) => next.trim() !== '').join(' ') })
  }
  return blocks
}

/** What goes on in the next line, indented, belongs to the item before. */
function listItems(lines: string[]): string[] {
  const items: string[] = []
  for (const line of lines) {
    const start = line.match(/^(?:-|\d+\.) (.*)$/)
    if (start) items.push(start[1]!)
    else items[items.length - 1] += ` ${line.trim()}`
  }
  return items
}

function cells(line: string): string[] {
  return line
    .replace(/^\||\|\s*$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}

export function slugOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[`*]/g, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}
