import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { FieldErrors, FormError, TextArea } from './field.tsx'

const render = (errors: Record<string, string>, message = '') =>
  renderToStaticMarkup(
    <FieldErrors value={errors}>
      <TextArea name="allowedTypes" label="Allowed types" />
      <TextArea name="object.tags" label="Tags" />
      <FormError message={message} />
    </FieldErrors>,
  )
const shownIn = (html: string) => ({
  invalid: [...html.matchAll(/name="([^"]+)"[^>]*aria-invalid="true"/g)].map(([, name]) => name),
  texts: [...html.matchAll(/<\/svg>(?:<span>)?([^<]+)/g)].map(([, text]) => text),
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

it('shows errors of fields that the form does not have as its general error', () => {
  const errors = { 'allowedTypes.0': 'Must be a type.', allowedTypesOther: 'Is not known.' }
  const html = render(errors, 'Nothing was saved.')
  const general = 'Nothing was saved. allowedTypesOther: Is not known.'
  expect(shownIn(html)).toEqual({ invalid: ['allowedTypes'], texts: ['Entry 1: Must be a type.', general] })
  expect(html).toContain('role="alert"')
})
