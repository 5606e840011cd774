import type { FileUpload } from '@sluice/uploader'
import { createSignal, For } from 'solid-js'
import '@sluice/uploader'

export function App() {
  const [arrived, setArrived] = createSignal<FileUpload[]>([])
  const batch = () => crypto.randomUUID()
  return (
    <>
      <sluice-uploader batch={batch} on:done={({ detail }) => setArrived((files) => [...files, detail])} />
      <For each={arrived()}>{({ name }) => <p>{name} has arrived.</p>}</For>
    </>
  )
}
