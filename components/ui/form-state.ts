/** The result of a form action: none yet, a message and errors by field, or done. */
export type FormState<Data = undefined> =
  | { status: 'idle' }
  | { status: 'error'; message: string; fields: Record<string, string> }
  | { status: 'done'; message?: string; data?: Data }

/** The server action that a form submits to, possibly bound to an id. */
export type FormAction<Data = undefined> = (
  previous: FormState<Data>,
  data: FormData,
) => Promise<FormState<Data>>
