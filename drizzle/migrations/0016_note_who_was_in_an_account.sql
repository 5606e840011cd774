CREATE TABLE "turned_off" (
	"workspace_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"subject_id" uuid NOT NULL,
	"turned_off_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "turned_off_workspace_id_kind_subject_id_pk" PRIMARY KEY("workspace_id","kind","subject_id")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "entered_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "data_stores" ADD COLUMN "turned_off_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "pipes" ADD COLUMN "require_subject" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "turned_off" ADD CONSTRAINT "turned_off_workspace_id_workspaces_id_fk" FOREIGN KEY ("workspace_id") REFERENCES "public"."workspaces"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "data_stores_turned_off" ON "data_stores" USING btree ("id") WHERE "data_stores"."turned_off_at" is not null;--> statement-breakpoint
UPDATE "users" u SET "entered_at" = coalesce((SELECT min(s."created_at") FROM "sessions" s WHERE s."user_id" = u."id"), u."created_at")
WHERE u."email_verified_at" IS NOT NULL
  OR EXISTS (SELECT FROM "sessions" s WHERE s."user_id" = u."id")
  OR EXISTS (SELECT FROM "identities" i WHERE i."user_id" = u."id")
  OR EXISTS (SELECT FROM "members" m WHERE m."user_id" = u."id" AND (
    EXISTS (SELECT FROM "account_keys" k WHERE k."workspace_id" = m."workspace_id")
    OR EXISTS (SELECT FROM "senders" s WHERE s."workspace_id" = m."workspace_id")
    OR EXISTS (SELECT FROM "data_stores" d WHERE d."workspace_id" = m."workspace_id")
    OR EXISTS (SELECT FROM "pipes" p WHERE p."workspace_id" = m."workspace_id")
    OR EXISTS (SELECT FROM "audit_log" a WHERE a."workspace_id" = m."workspace_id" AND a."action" <> 'account.created')
  ));
