import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { FieldErrors, TextArea } from './field.tsx'

const render = (errors: Record<string, string>) =>
  renderToStaticMarkup(
    <FieldErrors value={errors}>
      <TextArea name="allowedTypes" label="Allowed types" />
      <TextArea name="object.tags" label="Tags" />
    </FieldErrors>,
  )
const shownIn = (html: string) => ({
  invalid: [...html.matchAll(/name="([^"]+)"[^>]*aria-invalid="true"/g)].map(([, name]) => name),
  texts: [...html.matchAll(/<\/svg>([^<]+)/g)].map(([, text]) => text),
})

it.each([
  ['a field', { allowedTypes: 'Is required.' }, 'allowedTypes', 'Is required.'],
  ['a list entry', { 'allowedTypes.1': 'Must be a type.' }, 'allowedTypes', 'Entry 2: Must be a type.'],
  ['a named entry', { 'object.tags.kind': 'Is too long.' }, 'object.tags', 'kind: Is too long.'],
])('shows the error of %s at the field, and nowhere else', (_, errors, field, text) => {
  expect(shownIn(render(errors))).toEqual({ invalid: [field], texts: [text] })
})

it('shows the first error of a field', () => {
  const errors = { 'allowedTypes.0': 'Must be a type.', 'allowedTypes.2': 'Must be a type.' }
  expect(shownIn(render(errors)).texts).toEqual(['Entry 1: Must be a type.'])
})
