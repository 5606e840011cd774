import { UploadButton } from '@sluice/react'
import { createRoot } from 'react-dom/client'
import '@sluice/react/styles.css'

createRoot(document.getElementById('root')).render(<UploadButton />)
