import type { FileUpload } from '../../react/src/file-upload.ts'
import { isOver } from '../../react/src/file-upload.ts'
import { ICONS, type Step, stepOf } from '../../react/src/show-upload.ts'
import type { Uploads } from '../../react/src/uploads.ts'
import { describeSize, describeUpload, fill, percentOf, type Words } from '../../react/src/words.ts'
import { create, createIcon } from './create-element.ts'

/** An upload in the list. Its elements stay the same while it changes, so that they keep the focus. */
export class UploadRow {
  readonly element: HTMLElement
  readonly #name = create('bdi', '')
  readonly #size = create('span', 'size')
  readonly #step = create('button', 'step', { type: 'button' })
  readonly #cancel = create('button', 'step', { type: 'button' }, createIcon(ICONS.cancel))
  readonly #progress = create('progress', 'progress', { max: '100' })
  readonly #state = create('span', 'state')
  #upload: FileUpload | undefined
  #words: Words | undefined
  #shownStep: Step | undefined

  constructor(id: string, store: Uploads) {
    this.#step.onclick = () => this.#shownStep && store[this.#shownStep](id)
    this.#cancel.onclick = () => store.cancel(id)
    this.element = create(
      'div',
      'upload',
      { role: 'listitem', tabindex: '-1' },
      create('span', 'name', {}, this.#name, this.#size),
      create('span', 'steps', {}, this.#step, this.#cancel),
      this.#progress,
      this.#state,
    )
  }

  show(upload: FileUpload, words: Words): void {
    if (upload === this.#upload && words === this.#words) return
    this.#upload = upload
    this.#words = words
    const { name, path, size, state } = upload
    this.element.dataset.state = state
    this.element.setAttribute('part', `upload ${state}`)
    this.#name.textContent = path ?? name
    this.#size.textContent = upload.unreadable ? '' : describeSize(size, words.lang)
    this.#showStep(stepOf(upload), name, words)
    label(this.#cancel, fill(isOver(upload) ? words.remove : words.cancel, { name }))
    this.#progress.setAttribute('aria-label', fill(words.progress, { name }))
    this.#progress.value = percentOf(upload)
    this.#state.textContent = describeUpload(upload, words)
  }

  #showStep(step: Step | undefined, name: string, words: Words): void {
    const root = this.element.getRootNode() as ShadowRoot
    const loses = !step && root.activeElement === this.#step
    this.#step.hidden = !step
    if (loses) this.element.focus()
    if (step) label(this.#step, fill(words[step], { name }))
    if (step && step !== this.#shownStep) this.#step.replaceChildren(createIcon(ICONS[step]))
    this.#shownStep = step
  }
}

function label(button: HTMLButtonElement, text: string): void {
  button.setAttribute('aria-label', text)
  button.title = text
}
