import { UploadButton } from '@sluice/react'
import '@sluice/react/styles.css'
export default function Page() {
  return <UploadButton />
}
