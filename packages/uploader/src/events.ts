import type { FileUpload } from '../../react/src/file-upload.ts'

type Events = Omit<HTMLElementEventMap, 'change'> & {
  done: CustomEvent<FileUpload>
  failed: CustomEvent<FileUpload>
  change: CustomEvent<readonly FileUpload[]>
}
type Options = boolean | AddEventListenerOptions

/** The types of the events, also for the templates of Angular, which reads them from here. */
export interface ElementWithEvents extends HTMLElement {
  addEventListener<Type extends keyof Events>(
    type: Type,
    listener: (event: Events[Type]) => void,
    options?: Options,
  ): void
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: Options): void
  removeEventListener<Type extends keyof Events>(
    type: Type,
    listener: (event: Events[Type]) => void,
    options?: Options,
  ): void
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: Options): void
}
