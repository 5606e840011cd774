import { csvLine } from '#lib/platform/kernel/csv.ts'

type Value = string | number | null
/** An item's property, named in snake case, or a name and how to get its value. */
type Column<Item> = (keyof Item & string) | [name: string, value: (item: Item) => Value]
type Export<Item> = {
  name: string
  format: string | null
  pages: AsyncGenerator<Item[]>
  columns: Column<Item>[]
}

/**
 * Streams a file while generating it: each page is read once the previous one has been sent, so memory use does not
 * depend on the export's size.
 */
export function streamExport<Item>({ name, format, pages, columns }: Export<Item>): Response {
  const json = format === 'json'
  const lines = json ? toJson(pages) : toCsv(pages, columns)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await lines.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await lines.return(undefined)
    },
  })
  return new Response(body, {
    headers: {
      'Content-Type': json ? 'application/json' : 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}.${json ? 'json' : 'csv'}"`,
      'Cache-Control': 'no-store',
    },
  })
}

async function* toCsv<Item>(pages: AsyncGenerator<Item[]>, columns: Column<Item>[]): AsyncGenerator<string> {
  const pairs = columns.map((column) => (typeof column === 'string' ? ofProperty<Item>(column) : column))
  yield csvLine(pairs.map(([name]) => name))
  for await (const page of pages) {
    yield page.map((item) => csvLine(pairs.map(([, value]) => value(item)))).join('')
  }
}

const ofProperty = <Item>(property: keyof Item & string): [string, (item: Item) => Value] => [
  property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  (item) => item[property] as Value,
]

async function* toJson<Item>(pages: AsyncGenerator<Item[]>): AsyncGenerator<string> {
  yield '['
  let before = '\n'
  for await (const page of pages) {
    for (const item of page) {
      yield before + JSON.stringify(item)
      before = ',\n'
    }
  }
  yield '\n]\n'
}
