export type Answer = { status: number; headers?: Record<string, string>; body?: Buffer | string }

/** A refusal, in Azure's XML. Only refused credentials have a detail. */
export class AzureError extends Error {
  readonly answer: Answer

  constructor(status: number, code: string, message = 'Refused.', detail?: string) {
    super(code)
    const more = detail ? `<AuthenticationErrorDetail>${detail}</AuthenticationErrorDetail>` : ''
    const lines = `${message}\nRequestId:7f9a\nTime:2026-11-29T14:00:00.0000000Z`
    this.answer = {
      status,
      headers: { 'x-ms-error-code': code, 'content-type': 'application/xml' },
      body: `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${lines}</Message>${more}</Error>`,
    }
  }
}
