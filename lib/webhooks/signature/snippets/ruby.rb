require "openssl"

# body: request.raw_post, before any JSON parser touched it
# header: the X-Service-Signature header; secret: whsec_…
def verify_webhook(body, header, secret)
  parts = header.to_s.split(",").map { |part| part.split("=", 2) }
  t = parts.assoc("t")&.last.to_s
  return false unless t.match?(/\A\d+\z/) && (Time.now.to_i - t.to_i).abs <= 300
  key = secret.delete_prefix("whsec_").unpack1("m")
  expected = OpenSSL::HMAC.hexdigest("SHA256", key, "#{t}.".b + body.b)
  parts.any? { |name, value| name == "v1" && OpenSSL.secure_compare(value.to_s, expected) }
end
