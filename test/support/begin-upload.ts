import { expect } from 'playwright/test'

type Token = { token: string; uploadUrl: string }

/** Creates an upload that stays in progress. */
export async function beginUpload(token: Token, name: string): Promise<void> {
  await create(token, name, 1000)
}

/** Uploads an empty file, which completes immediately. */
export async function uploadEmpty(token: Token, name: string): Promise<void> {
  await create(token, name, 0)
}

async function create({ token, uploadUrl }: Token, name: string, bytes: number): Promise<void> {
  const metadata = `filename ${Buffer.from(name).toString('base64')}`
  const headers = {
    Authorization: `Bearer ${token}`,
    'Tus-Resumable': '1.0.0',
    'Upload-Length': String(bytes),
    'Upload-Metadata': metadata,
  }
  const response = await fetch(uploadUrl, { method: 'POST', headers })
  expect(response.status).toBe(201)
}

export async function tokenFor(
  baseUrl: string,
  senderToken: string,
  pipeId: string,
  fields: object = {},
): Promise<Token> {
  const headers = { Authorization: `Bearer ${senderToken}`, 'Content-Type': 'application/json' }
  const response = await fetch(`${baseUrl}/api/v1/tokens`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ pipeId, ...fields }),
  })
  return response.json()
}
