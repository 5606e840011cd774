/** What a form's action answers: nothing yet, what is wrong and where, or done. */
export type FormState<Data = undefined> =
  | { status: 'idle' }
  | { status: 'error'; message: string; fields: Record<string, string> }
  | { status: 'done'; message?: string; data?: Data }

/** What a form sends to: a server action, or one bound to an id. */
export type FormAction<Data = undefined> = (
  previous: FormState<Data>,
  data: FormData,
) => Promise<FormState<Data>>
