import { droppedFiles, MAX_FILES } from '../../react/src/dropped-files.ts'
import type { FileUpload, UploadOptions } from '../../react/src/file-upload.ts'
import { words as en } from '../../react/src/languages/en.ts'
import { loadWords, pageLanguage, withWords } from '../../react/src/languages.ts'
import { sayChanges } from '../../react/src/show-upload.ts'
import styles from '../../react/src/styles.css'
import { askBackend } from '../../react/src/tokens.ts'
import { createUploads, type Uploads } from '../../react/src/uploads.ts'
import { countIn, type SomeWords, type Words } from '../../react/src/words.ts'
import { ATTRIBUTES, applyEarly, type Reflected, reflectAttributes } from './attributes.ts'
import { create } from './create-element.ts'
import type { ElementWithEvents } from './events.ts'
import own from './styles.css'
import { UploadRow } from './upload-row.ts'

/**
 * `<sluice-uploader>`: an area to drop files and folders, with a button in it, and the list of its uploads. Its events
 * are `done` and `failed`, with the upload as `detail`, and `change`, with all uploads.
 */
export type { FileUpload, UploadState } from '../../react/src/file-upload.ts'
export type { UploadToken } from '../../react/src/tokens.ts'
export { createUploads, UploadFailure, type Uploads } from '../../react/src/uploads.ts'
export type { SomeWords, Words } from '../../react/src/words.ts'

/**
 * On a server, the module can be imported, but nothing is defined. `reflectAttributes` defines the properties of
 * `Reflected`.
 */
const Base = (globalThis.HTMLElement ?? class {}) as unknown as new () => Reflected & ElementWithEvents

export class SluiceUploader extends Base {
  static readonly observedAttributes = ATTRIBUTES
  /**
   * As in `createUploads`. They may be set at any time. Vue and Svelte set an attribute instead of a property for which
   * they find no setter.
   */
  accessor getToken: UploadOptions['getToken']
  accessor batch: UploadOptions['batch']

  readonly #input = create('input', '', { type: 'file' })
  readonly #choose = create('label', 'choose', {}, create('slot', ''), this.#input)
  readonly #drop = create('span', '')
  readonly #zone = create('div', 'dropzone', {}, this.#drop, this.#choose)
  readonly #notice = create('p', 'notice', { role: 'alert' })
  readonly #list = create('div', 'list', { role: 'list', hidden: '' })
  readonly #said = create('p', 'said', { role: 'status' })
  readonly #rows = new Map<string, UploadRow>()
  /** The texts of the language, those that the page replaces, and both together. */
  #base: Words = en
  #given: SomeWords | undefined
  #words: Words = en
  #lang = en.lang
  #store: Uploads | undefined
  #close: (() => void) | undefined
  #shown: readonly FileUpload[] = []

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open' })
    root.adoptedStyleSheets = [sheetOf(styles), sheetOf(own)]
    root.append(create('div', '', { class: 'sluice' }, this.#zone, this.#notice, this.#list, this.#said))
    this.#input.onchange = () => {
      this.add(this.#input.files ?? [])
      this.#input.value = ''
    }
    for (const type of ['dragenter', 'dragover', 'dragleave', 'drop'] as const)
      this.#zone.addEventListener(type, (event) => this.#drag(event))
  }

  connectedCallback(): void {
    applyEarly(this)
    this.#showOptions()
    void this.#loadWords()
    // A framework may set properties after it has inserted the element.
    queueMicrotask(() => {
      if (this.isConnected) this.#close ??= this.#uploads().open()
    })
  }

  disconnectedCallback(): void {
    this.#close?.()
    this.#close = undefined
  }

  attributeChangedCallback(): void {
    this.#showOptions()
    if (this.isConnected) void this.#loadWords()
  }

  /** Setting some of the texts replaces those of the language. */
  get words(): SomeWords {
    return this.#words
  }

  set words(words: SomeWords | undefined) {
    this.#given = words
    this.#showWords()
  }

  async #loadWords(): Promise<void> {
    const lang = pageLanguage(this)
    if (lang === this.#lang) return
    this.#lang = lang
    const base = await loadWords(lang)
    if (lang !== this.#lang) return
    this.#base = base
    this.#showWords()
  }

  #showWords(): void {
    this.#words = withWords(this.#base, this.#given)
    this.#showOptions()
    this.#show()
  }

  get uploads(): readonly FileUpload[] {
    return this.#uploads().uploads()
  }

  /** Adds files as if they had been picked. */
  add(files: Iterable<File>): void {
    const list = [...files]
    this.#uploads().add(this.single ? list.slice(0, 1) : list)
  }

  pause(id: string): void {
    this.#uploads().pause(id)
  }

  resume(id: string): void {
    this.#uploads().resume(id)
  }

  retry(id: string): void {
    this.#uploads().retry(id)
  }

  cancel(id: string): void {
    this.#uploads().cancel(id)
  }

  override focus(options?: FocusOptions): void {
    this.#input.focus(options)
  }

  #uploads(): Uploads {
    this.#store ??= this.#createStore()
    return this.#store
  }

  #createStore(): Uploads {
    const element = this
    const { place, parallel, connections, keepBytes } = this
    const ask = () => askBackend(this.tokenUrl ?? '/api/upload-token', globalThis.fetch.bind(globalThis))
    const store = createUploads({
      place,
      parallel,
      connections,
      keepBytes,
      getToken: () => (this.getToken ?? ask)(),
      get batch() {
        return element.batch
      },
      onDone: (upload) => this.#tell('done', upload),
      onFailed: (upload) => this.#tell('failed', upload),
    })
    store.watch(() => {
      this.#show()
      this.#tell('change', store.uploads())
    })
    return store
  }

  #tell(type: 'done' | 'failed' | 'change', detail: FileUpload | readonly FileUpload[]): void {
    // Svelte listens for `change` at the root of the page.
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }))
  }

  #drag(event: DragEvent): void {
    event.preventDefault()
    const isOver = !this.disabled && ['dragenter', 'dragover'].includes(event.type)
    this.#zone.toggleAttribute('data-over', isOver)
    if (event.type === 'drop' && !this.disabled) void this.#take(event.dataTransfer!)
  }

  async #take(dropped: DataTransfer): Promise<void> {
    const { files, unreadable, hasMore } = await droppedFiles(dropped)
    this.#notice.textContent = hasMore
      ? countIn({ other: this.#words.tooMany }, MAX_FILES, this.#words.lang)
      : ''
    this.#uploads().addUnreadable(unreadable, this.#words.unreadable)
    this.add(files)
  }

  #showOptions(): void {
    this.#input.accept = this.accept ?? ''
    this.#input.multiple = !this.single
    this.#input.disabled = this.disabled
    this.#input.webkitdirectory = this.folder
    this.#choose.toggleAttribute('data-disabled', this.disabled)
    this.#choose.querySelector('slot')!.textContent = this.#words.choose
    this.#drop.textContent = this.#words.drop
    this.#list.setAttribute('aria-label', this.#words.list)
  }

  #show(): void {
    const uploads = this.#store?.uploads() ?? []
    const said = sayChanges(this.#shown, uploads, this.#words)
    if (said) this.#said.textContent = said
    this.#shown = uploads
    const gone = new Set(this.#rows.keys())
    for (const upload of uploads) {
      gone.delete(upload.id)
      this.#rowOf(upload.id).show(upload, this.#words)
    }
    for (const id of gone) this.#remove(id)
    this.#list.hidden = uploads.length === 0
  }

  #rowOf(id: string): UploadRow {
    const known = this.#rows.get(id)
    if (known) return known
    const row = new UploadRow(id, this.#uploads())
    this.#rows.set(id, row)
    this.#list.append(row.element)
    return row
  }

  /** If the row has the focus, it moves to the next one, or to the button. */
  #remove(id: string): void {
    const { element } = this.#rows.get(id)!
    const hasFocus = element.contains(this.shadowRoot!.activeElement)
    const next = (element.nextElementSibling ?? element.previousElementSibling) as HTMLElement | null
    this.#rows.delete(id)
    element.remove()
    if (hasFocus) (next ?? this.#input).focus()
  }
}

function sheetOf(text: string): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  return sheet
}

declare global {
  interface HTMLElementTagNameMap {
    'sluice-uploader': SluiceUploader
  }
}

if (globalThis.customElements && !customElements.get('sluice-uploader')) {
  reflectAttributes(SluiceUploader.prototype)
  customElements.define('sluice-uploader', SluiceUploader)
}
