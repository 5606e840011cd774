import { textOf } from '#app/actions/form-fields.ts'
import { invalidRequest } from '#lib/platform/kernel/errors.ts'

/** The output form's values as API fields. If the headers field is empty, the output keeps its headers. */
export function outputFields(data: FormData) {
  const headers = data.get('dropHeaders') === 'on' ? {} : headersIn(textOf(data, 'headers') ?? '')
  return {
    name: textOf(data, 'name') ?? '',
    url: textOf(data, 'url') ?? '',
    events: data.getAll('events').map(String),
    statuses: data.getAll('statuses').map(String),
    ...(headers && { headers }),
  }
}

function headersIn(text: string): Record<string, string> | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return undefined
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = line.match(/^\s*([^:\s]+)\s*:\s*(.*?)\s*$/) ?? []
      if (!name || !value)
        throw invalidRequest([
          { field: 'headers', message: 'must have a name, a colon and a value on each line' },
        ])
      return [name, value]
    }),
  )
}
