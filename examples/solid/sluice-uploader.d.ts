import type { FileUpload, SluiceUploader } from '@sluice/uploader'

/** The element's properties and events, for TypeScript. */
declare module 'solid-js' {
  namespace JSX {
    interface IntrinsicElements {
      'sluice-uploader': HTMLAttributes<SluiceUploader> & Partial<Omit<SluiceUploader, keyof HTMLElement>>
    }
    interface CustomEvents {
      done: CustomEvent<FileUpload>
    }
  }
}
