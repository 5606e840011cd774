import { Copyable } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import { whyUnreachable } from '#lib/workspace/data-stores/federation.ts'
import { trustSteps } from '#lib/workspace/data-stores/trust-steps.ts'
import { Folded } from './check-findings.tsx'

/** What to paste in a cloud so that it trusts this server. Before the switch from keys, this prepares it. */
export function Trust({ store }: { store: DataStore }) {
  const { issuer, subject } = store.identity
  const steps = trustSteps({ ...store, uses: [] })
  const isUsed = store.federation !== null || store.assumedRole !== null
  if (!isUsed && (steps.length === 0 || whyUnreachable(issuer))) return null

  return (
    <Panel
      title="Trust instead of keys"
      description="A cloud that trusts these statements gives out credentials that end within hours, and no secret is stored here."
    >
      <div className="space-y-4">
        <Facts
          facts={{
            Issuer: <Copyable text={issuer} what="Issuer" />,
            Subject: <Copyable text={subject} what="Subject" />,
          }}
        />
        {steps.map(({ title, code }) => (
          <Folded key={title} title={title} code={code} language="bash" />
        ))}
      </div>
    </Panel>
  )
}
