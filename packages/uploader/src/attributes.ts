/** The properties that reflect attributes: plain HTML sets the attributes, and frameworks either. */
const TEXTS = { tokenUrl: 'token-url', place: 'place', accept: 'accept' }
const NUMBERS = { parallel: 'parallel', connections: 'connections', keepBytes: 'keep-bytes' }
const FLAGS = { folder: 'folder', disabled: 'disabled', single: 'single', compact: 'compact' }

export type Reflected = { [Name in keyof typeof TEXTS]: string | undefined } & {
  [Name in keyof typeof NUMBERS]: number | undefined
} & { [Name in keyof typeof FLAGS]: boolean }

export const ATTRIBUTES = ['lang', ...[TEXTS, NUMBERS, FLAGS].flatMap((names) => Object.values(names))]

type Read = (value: string | null) => unknown

/** Defines the properties. Setting one to undefined, null or false removes its attribute. */
export function reflectAttributes(prototype: HTMLElement): void {
  const define = (names: Record<string, string>, read: Read) => {
    for (const [property, attribute] of Object.entries(names))
      Object.defineProperty(prototype, property, {
        get(this: HTMLElement) {
          return read(this.getAttribute(attribute))
        },
        set(this: HTMLElement, value: unknown) {
          if (value === undefined || value === null || value === false) this.removeAttribute(attribute)
          else this.setAttribute(attribute, value === true ? '' : String(value))
        },
      })
  }
  define(TEXTS, (value) => value ?? undefined)
  define(NUMBERS, (value) => (value === null ? undefined : Number(value)))
  define(FLAGS, (value) => value !== null)
}

/** Applies the properties that a page or framework had set before the element was defined. */
export function applyEarly(element: HTMLElement): void {
  for (const property of Object.keys({ ...TEXTS, ...NUMBERS, ...FLAGS, words: '' })) {
    if (!Object.hasOwn(element, property)) continue
    const value = Reflect.get(element, property)
    Reflect.deleteProperty(element, property)
    Reflect.set(element, property, value)
  }
}
