import { ActionForm } from '#components/ui/action-form.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import type { FileProblem } from '#lib/dashboard/files/file-problems.ts'
import { resendAll } from '../../webhooks/actions.ts'
import { repair } from './actions.ts'

/** Each problem of a file, with its cause and the actions that help. */
export function FileProblems({ id, problems }: { id: string; problems: FileProblem[] }) {
  return problems.map((problem, index) => (
    <Notice
      key={index}
      tone={problem.tone}
      title={problem.title}
      className="mb-3"
      action={<Actions id={id} problem={problem} />}
    >
      <p className="break-words">
        {problem.text}
        {problem.nextAttemptAt && (
          <>
            {' '}
            Next attempt <Time at={problem.nextAttemptAt} />.
          </>
        )}
      </p>
      {problem.detail && <TextLink href={problem.detail.href}>{problem.detail.label}</TextLink>}
    </Notice>
  ))
}

function Actions({ id, problem: { repair: copy, resend, cause } }: { id: string; problem: FileProblem }) {
  const look = { right: 'operate', submitSize: 'sm' } as const
  return (
    <div className="flex flex-wrap gap-2 empty:hidden">
      {copy && (
        <ActionForm
          {...look}
          action={repair.bind(null, id, copy.dataStoreId)}
          submit="Repair now"
          about={`: ${copy.name}`}
        />
      )}
      {resend && (
        <ActionForm
          {...look}
          action={resendAll.bind(null, resend.deliveryIds)}
          submit="Resend"
          about={` to ${resend.host}`}
        />
      )}
      {cause && (
        <ButtonLink href={cause.href} size="sm">
          {cause.label}
        </ButtonLink>
      )}
    </div>
  )
}
