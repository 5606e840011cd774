/**
 * Uploads for React that survive lost networks, closed tabs and expired tokens: a button, a dropzone, and the hook
 * behind both.
 */
export type { Answered, FileUpload, Transport, UploadOptions, UploadState } from './file-upload.ts'
export type { UploadToken } from './tokens.ts'
export { UploadButton, type UploadProps } from './upload-button.tsx'
export { UploadDropzone } from './upload-dropzone.tsx'
export { createUploads, UploadFailure, type Uploads } from './uploads.ts'
export { type UseUpload, useUpload, useUploadsOf } from './use-upload.ts'
export type { Words } from './words.ts'
