import { Component, CUSTOM_ELEMENTS_SCHEMA, signal } from '@angular/core'
import type { FileUpload } from '@sluice/uploader'
import '@sluice/uploader'

@Component({
  selector: 'app-root',
  schemas: [CUSTOM_ELEMENTS_SCHEMA],
  template: `
    <sluice-uploader [batch]="batch" (done)="note($event.detail)"></sluice-uploader>
    @for (file of arrived(); track file.id) {
      <p>{{ file.name }} has arrived.</p>
    }
  `,
})
export class App {
  readonly arrived = signal<FileUpload[]>([])
  readonly batch = () => crypto.randomUUID()

  note(file: FileUpload) {
    this.arrived.update((files) => [...files, file])
  }
}
