/** What a snippet has to know. It never holds a secret: those come from the reader's own environment. */
export type EmbedTarget = {
  baseUrl: string
  /** The Pipe's TUS endpoint. */
  uploadUrl: string
  pipeId: string
}
