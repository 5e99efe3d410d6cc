// IDs of a flakeforge-server, with the JDK only (Java 17 or newer). Copy this file, without main and what it calls.
//
//   var ids = new FlakeForgeIds(List.of("http://ids-1:8080", "http://ids-2:8080"), "orders", null);
//   long id = ids.next();           // out of what was fetched before, in most cases
//   long[] batch = ids.fetch(500);  // by one request
//
// It stays with one server, and goes on to the next one after a network error or a 503. An answer that was lost costs
// numbers, never uniqueness. It must never give a number twice: neither to two threads, nor from servers whose layouts
// differ.

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A client for all threads of a process. An ID with its first bit set, which the layout {@code flake} makes from 2039 on, is
 * a negative long: {@link Long#toUnsignedString(long)} shows it as the other languages do.
 */
public final class FlakeForgeIds {
    private static final int PREFETCH = 100; // how many IDs a refill fetches; it starts when half are used
    private static final Duration VALIDITY = Duration.ofMinutes(10); // for how long fetched IDs are used
    private static final Duration TIMEOUT = Duration.ofSeconds(2); // of one request
    private static final Duration WAIT = Duration.ofSeconds(10); // how long a call goes round while no server can answer
    private static final Duration PAUSE = Duration.ofMillis(100); // between two rounds, at least
    private static final String BATCH = "application/octet-stream";

    /** What a server refused. The code is the server's, such as ERR_FLAKE_NAME. */
    @SuppressWarnings("serial")
    public static final class Refusal extends IOException {
        public final int status;
        public final String code;
        final Duration retryAfter;

        Refusal(int status, String code, String detail, Duration retryAfter) {
            super(status + " " + code + ": " + detail);
            this.status = status;
            this.code = code;
            this.retryAfter = retryAfter;
        }

        /** No other server, and no other time, can help: the request itself is wrong. */
        boolean isFinal() {
            return status >= 400 && status < 500 && status != 408 && status != 429;
        }
    }

    private record Fetched(long id, long until) {}

    private final HttpClient http = // it follows no redirect, which would take the token along
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();
    private final List<String> urls;
    private final String name;
    private final String token;

    // Guarded by this object's monitor.
    private final ArrayDeque<Fetched> ids = new ArrayDeque<>();
    private CompletableFuture<Void> refill;
    private String layout;
    private int current; // the server it stays with

    /** Starts at a random server, so that clients spread over them. The token may be null. */
    public FlakeForgeIds(List<String> urls, String name, String token) {
        this.urls = List.copyOf(urls);
        this.name = name;
        this.token = token;
        current = ThreadLocalRandom.current().nextInt(urls.size());
    }

    /** One ID. Waits only where nothing is left. */
    public long next() throws IOException, InterruptedException {
        while (true) {
            CompletableFuture<Void> awaited;
            synchronized (this) {
                long now = System.nanoTime();
                while (!ids.isEmpty() && ids.peek().until() - now < 0) ids.remove();
                if (ids.size() <= PREFETCH / 2 && refill == null) startRefill();
                if (!ids.isEmpty()) return ids.remove().id();
                awaited = refill;
            }
            try {
                awaited.get();
            } catch (ExecutionException e) {
                throw new IOException(e.getCause().getMessage(), e.getCause());
            }
        }
    }

    private void startRefill() {
        CompletableFuture<Void> own = new CompletableFuture<>();
        refill = own;
        Thread thread = new Thread(() -> fetchMore(own), "flakeforge");
        thread.setDaemon(true);
        thread.start();
    }

    private void fetchMore(CompletableFuture<Void> own) {
        long[] more = {};
        Throwable failure = null;
        try {
            more = fetch(PREFETCH);
        } catch (Throwable e) { // whatever it is, those who wait must hear of it
            failure = e;
        }
        synchronized (this) {
            long until = System.nanoTime() + VALIDITY.toNanos();
            for (long id : more) ids.add(new Fetched(id, until));
            refill = null;
        }
        if (failure == null) own.complete(null);
        else own.completeExceptionally(failure);
    }

    /** n new IDs (1 to 10 000) in ascending order, by one request to the first server that answers. */
    public long[] fetch(int n) throws IOException, InterruptedException {
        long giveUp = System.nanoTime() + WAIT.toNanos();
        while (true) {
            Duration pause = PAUSE;
            StringJoiner causes = new StringJoiner("; ");
            for (int i = 0; i < urls.size(); i++) {
                int server = server();
                try {
                    return ask(urls.get(server), n);
                } catch (IOException e) {
                    if (e instanceof Refusal refusal) {
                        if (refusal.isFinal()) throw refusal;
                        if (refusal.retryAfter.compareTo(pause) > 0) pause = refusal.retryAfter;
                    }
                    causes.add(urls.get(server) + ": " + e);
                    leave(server);
                }
            }
            if (System.nanoTime() + pause.toNanos() - giveUp > 0) throw new IOException("no server gave IDs: " + causes);
            Thread.sleep(pause.toMillis());
        }
    }

    private synchronized int server() {
        return current;
    }

    /** Goes on to the next server, unless another thread has done so. */
    private synchronized void leave(int server) {
        if (current == server) current = (server + 1) % urls.size();
    }

    private long[] ask(String url, int n) throws IOException, InterruptedException {
        HttpResponse<byte[]> response = post(url, n, BATCH);
        byte[] body = response.body();
        String type = response.headers().firstValue("content-type").orElse("");
        if (!type.equals(BATCH) || body.length != 8 * n)
            throw new IOException("not " + n + " IDs but " + body.length + " bytes of " + type);
        checkLayout(response.headers().firstValue("flakeforge-layout").orElse(""));
        long[] batch = new long[n];
        ByteBuffer.wrap(body).asLongBuffer().get(batch);
        return batch;
    }

    /** Refuses what must not be mixed with the IDs so far. A segment has no layout, which is one of its own here. */
    private synchronized void checkLayout(String theirs) throws IOException {
        if (layout == null) layout = theirs;
        if (!layout.equals(theirs)) throw new IOException("its layout is '" + theirs + "', the others' is '" + layout + "'");
    }

    private HttpResponse<byte[]> post(String url, int n, String accept) throws IOException, InterruptedException {
        String path = "/v1/ids/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20") + "?n=" + n;
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url.replaceAll("/+$", "") + path))
                .timeout(TIMEOUT)
                .header("Accept", accept)
                .POST(HttpRequest.BodyPublishers.noBody());
        if (token != null) request.header("Authorization", "Bearer " + token);
        HttpResponse<byte[]> response = http.send(request.build(), BodyHandlers.ofByteArray());
        if (response.statusCode() != 200) throw refusal(response);
        return response;
    }

    /** What a problem+json says. The JDK reads no JSON, and two of its strings need no parser. */
    private static Refusal refusal(HttpResponse<byte[]> response) {
        String body = new String(response.body(), StandardCharsets.UTF_8);
        String seconds = response.headers().firstValue("retry-after").filter(text -> text.matches("\\d{1,6}")).orElse("0");
        Duration retryAfter = Duration.ofSeconds(Long.parseLong(seconds));
        return new Refusal(response.statusCode(), textOf(body, "code"), textOf(body, "detail"), retryAfter);
    }

    private static String textOf(String json, String key) {
        var matcher = Pattern.compile('"' + key + "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
        return matcher.find() ? matcher.group(1) : "";
    }

    // ---- An example: java FlakeForgeIds.java one|json|bytes|many NAME N URL... prints IDs, one a line. The environment's
    // FLAKEFORGE_TOKEN is the token, where the server wants one.

    public static void main(String[] args) throws Exception {
        if (args.length < 4) throw new IllegalArgumentException("java FlakeForgeIds.java one|json|bytes|many NAME N URL...");
        int n = Integer.parseInt(args[2]);
        List<String> urls = Arrays.asList(args).subList(3, args.length);
        var ids = new FlakeForgeIds(urls, args[1], System.getenv("FLAKEFORGE_TOKEN"));
        switch (args[0]) {
            case "one" -> System.out.println(Long.toUnsignedString(ids.next()));
            case "bytes" -> Arrays.stream(ids.fetch(n)).mapToObj(Long::toUnsignedString).forEach(System.out::println);
            case "json" -> printJson(ids, n);
            default -> printMany(ids, n);
        }
    }

    /** In JSON the IDs are decimal strings: numbers would be rounded by other languages. */
    private static void printJson(FlakeForgeIds ids, int n) throws Exception {
        String json = new String(ids.post(ids.urls.get(0), n, "application/json").body(), StandardCharsets.UTF_8);
        Pattern.compile("\"(\\d+)\"").matcher(json.substring(json.indexOf("\"ids\""))).results()
                .forEach(each -> System.out.println(each.group(1)));
    }

    /** n IDs by four threads, out of one client. */
    private static void printMany(FlakeForgeIds ids, int n) throws Exception {
        CompletableFuture<?>[] work = IntStream.range(0, 4)
                .mapToObj(thread -> CompletableFuture.runAsync(() -> print(ids, n / 4)))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(work).get();
    }

    private static void print(FlakeForgeIds ids, int n) {
        try {
            for (int i = 0; i < n; i++) System.out.println(Long.toUnsignedString(ids.next()));
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
