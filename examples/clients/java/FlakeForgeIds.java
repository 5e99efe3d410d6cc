// IDs of a flakeforge-server, with the JDK only (Java 17 or newer). Copy this file, without main and the methods it calls.
//
//   var ids = new FlakeForgeIds(List.of("http://ids-1:8080", "http://ids-2:8080"), "orders", null);
//   long id = ids.next();           // in most cases one that was fetched earlier
//   long[] batch = ids.fetch(500);  // with one request
//
// It stays with one server for one to three minutes, and switches to a random other one after a network error or a 503. A lost
// response costs numbers, never uniqueness. No number comes twice: neither to two threads, nor from servers whose layouts or
// groups differ, nor from a cache that replays a response.

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * One client for all threads of a process. An ID with its first bit set, which the layout {@code flake} generates from 2039
 * on, is a negative long: {@link Long#toUnsignedString(long)} prints it as other languages do.
 */
public final class FlakeForgeIds {
    private static final int PREFETCH = 100; // how many IDs a refill fetches; it starts when half are used
    private static final Duration VALIDITY = Duration.ofMinutes(10); // how long fetched IDs are used
    private static final Duration TIMEOUT = Duration.ofSeconds(2); // of one request
    private static final Duration WAIT = Duration.ofSeconds(10); // how long a call keeps asking while no server responds
    private static final Duration PAUSE = Duration.ofMillis(100); // after the first failed round; then longer
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_REST = Duration.ofSeconds(30); // a server may be ready sooner than it said
    private static final Duration STAY = Duration.ofMinutes(2); // with a server: after a restart of all, each gets clients
    private static final String BATCH = "application/octet-stream";
    private static final String MISMATCH = "ERR_FLAKE_CONFIG_MISMATCH";
    private static final String REPLAY = "ERR_FLAKE_REPLAY";
    private static final String NO_CACHE =
            ": configure every proxy and cache on the way not to cache POST, and to pass on the header flakeforge-nonce";
    private static final int MOST_SLOTS = 1000; // how many slots' last IDs are remembered
    private static final int MOST_IDS = 65_536; // how many recent IDs are remembered
    private static final SecureRandom RANDOM = new SecureRandom();

    /** Why a server rejected the request, or why its IDs are not used. The code is the server's, such as ERR_FLAKE_NAME. */
    @SuppressWarnings("serial")
    public static final class Refusal extends IOException {
        public final int status;
        public final String code;
        final Duration retryAfter;
        final boolean isFinal; // no other server and no retry can help

        Refusal(int status, String code, String detail, Duration retryAfter, boolean isFinal) {
            super(((status == 0 ? "" : status + " ") + code + ": " + detail));
            this.status = status;
            this.code = code;
            this.retryAfter = retryAfter;
            this.isFinal = isFinal;
        }
    }

    /** The origin of a server's IDs: their layout, "" for a segment, and the random digits of their group. */
    private record Origin(String url, String layout, String group) {
        boolean fits(Origin other) {
            return layout.equals(other.layout) && group.equals(other.group);
        }
    }

    /** IDs, and the position of their group in the sequence of groups. */
    private record Batch(long[] ids, int group) {}

    /**
     * IDs. The slot is the one in which IDs ascend from response to response, or ""; the last IDs are those known at the time
     * of the request.
     */
    private record Answer(Origin origin, String slot, long[] ids, Map<String, Long> lasts) {}

    private record Fetched(long id, long until) {}

    private final HttpClient http = // it follows no redirect, which would send the token along
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();
    private final List<String> urls;
    private final String name;
    private final String token;

    // Guarded by this object's monitor.
    private final ArrayDeque<Fetched> ids = new ArrayDeque<>();
    private CompletableFuture<Void> refill;
    private Origin known; // of the last response
    private final Set<String> left = new HashSet<>(); // groups that were replaced by another one
    private final Map<String, Long> lasts = new HashMap<>(); // the last ID of each group and slot
    private final Set<Long> recent = new HashSet<>(); // the most recent IDs
    private final ArrayDeque<Long> order = new ArrayDeque<>(); // the same, the oldest first
    private String current; // the current server
    private long moveAt = nextMove();

    /** Starts with a random server, so that clients spread over all of them. The token may be null. */
    public FlakeForgeIds(List<String> urls, String name, String token) {
        this.urls = List.copyOf(urls);
        this.name = name;
        this.token = token;
        current = urls.get(ThreadLocalRandom.current().nextInt(urls.size()));
    }

    /** One ID. Waits only if none is left. */
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
        Batch more = new Batch(new long[0], 0);
        Throwable failure = null;
        try {
            more = fetchBatch(PREFETCH);
        } catch (Throwable e) { // whatever it is, waiting threads have to get it
            failure = e;
        }
        synchronized (this) {
            long until = System.nanoTime() + VALIDITY.toNanos();
            if (more.group() == left.size()) for (long id : more.ids()) ids.add(new Fetched(id, until));
            refill = null;
        }
        if (failure == null) own.complete(null);
        else own.completeExceptionally(failure);
    }

    /** n new IDs (1 to 10 000), with one request to the first server that responds. */
    public long[] fetch(int n) throws IOException, InterruptedException {
        return fetchBatch(n).ids();
    }

    private Batch fetchBatch(int n) throws IOException, InterruptedException {
        long giveUp = System.nanoTime() + WAIT.toNanos();
        for (Duration pause = PAUSE; ; pause = shorter(pause.multipliedBy(2), LONGEST_PAUSE)) {
            Duration asked = null; // the shortest time that a server asked for
            String code = ""; // of a fault that an operator has to fix
            StringJoiner causes = new StringJoiner("; ");
            for (String url : inTurn()) {
                try {
                    return take(url, n);
                } catch (IOException e) {
                    Refusal refusal = e instanceof Refusal r ? r : null;
                    if (refusal != null && refusal.isFinal) throw refusal;
                    if (refusal != null && (refusal.code.equals(MISMATCH) || refusal.code.equals(REPLAY) && code.isEmpty()))
                        code = refusal.code;
                    asked = shorter(asked, refusal == null ? Duration.ZERO : refusal.retryAfter);
                    causes.add(url + ": " + e);
                }
            }
            Duration least = asked.compareTo(pause) > 0 ? asked : pause;
            if (System.nanoTime() + least.toNanos() - giveUp > 0) {
                if (!code.isEmpty()) throw new Refusal(0, code, "no server gave IDs: " + causes, Duration.ZERO, true);
                throw new IOException("no server gave IDs: " + causes);
            }
            Thread.sleep(shorter(least, LONGEST_REST).toMillis());
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one == null || one.compareTo(other) > 0 ? other : one;
    }

    /** All servers: first the current one, then the others in random order. From time to time the current one changes. */
    private synchronized List<String> inTurn() {
        List<String> all = new ArrayList<>(urls);
        Collections.shuffle(all, ThreadLocalRandom.current());
        if (System.nanoTime() - moveAt > 0) {
            current = all.get(0);
            moveAt = nextMove();
        }
        Collections.swap(all, 0, all.indexOf(current));
        return all;
    }

    private static long nextMove() {
        return System.nanoTime() + STAY.toNanos() / 2 + ThreadLocalRandom.current().nextLong(STAY.toNanos());
    }

    /** IDs from this server, if they are new and from the same group as earlier ones. */
    private Batch take(String url, int n) throws IOException, InterruptedException {
        int before = groups();
        Answer answer = ask(url, n);
        Origin theirs = answer.origin();
        Origin last = lastUnlessItFits(answer);
        if (last == null) return new Batch(answer.ids(), groups());
        // It may be the same group, recreated on an emptied store. Then all servers show it.
        boolean mayFollow = theirs.layout().equals(last.layout()) && !theirs.group().isEmpty() && !wasLeft(theirs.group());
        List<Origin> shown = mayFollow ? askAll() : List.of();
        synchronized (this) {
            if (lastUnlessItFits(answer) == null) return new Batch(answer.ids(), left.size());
            if (before != left.size()) throw new IOException(url + " was asked before its group was recreated");
            boolean isFinal = !mayFollow || !shown.stream().allMatch(theirs::fits);
            if (isFinal || shown.stream().noneMatch(each -> each.url().equals(last.url()))) throw mismatch(theirs, last, isFinal);
            left.add(last.group());
            ids.clear();
            known = theirs;
            remember(answer);
            return new Batch(answer.ids(), left.size());
        }
    }

    private synchronized int groups() {
        return left.size();
    }

    private synchronized boolean wasLeft(String group) {
        return left.contains(group);
    }

    /** The origin of the earlier IDs, if those of this response must not follow them. */
    private synchronized Origin lastUnlessItFits(Answer answer) throws Refusal {
        Origin theirs = answer.origin();
        if (known != null && !known.fits(theirs)) return known;
        known = theirs;
        current = theirs.url();
        remember(answer);
        return null;
    }

    /**
     * Throws if an ID is not new. Those of one slot come after all IDs known at the time of the request. Responses to
     * concurrent requests may arrive in any order, so their IDs are compared one by one.
     */
    private synchronized void remember(Answer answer) throws Refusal {
        long[] all = answer.ids();
        Long last = answer.lasts().get(answer.slot());
        if (last != null && Long.compareUnsigned(all[0], last) <= 0)
            throw replay("the ID " + Long.toUnsignedString(all[0]) + " is not after " + Long.toUnsignedString(last)
                    + ", the last ID of its slot");
        for (long id : all) if (recent.contains(id)) throw replay("the ID " + Long.toUnsignedString(id) + " was sent before");
        for (long id : all) {
            recent.add(id);
            order.add(id);
        }
        while (order.size() > MOST_IDS) recent.remove(order.remove());
        if (answer.slot().isEmpty()) return;
        if (lasts.size() >= MOST_SLOTS && !lasts.containsKey(answer.slot())) lasts.clear();
        lasts.merge(answer.slot(), all[all.length - 1], (a, b) -> Long.compareUnsigned(a, b) > 0 ? a : b);
    }

    private synchronized Map<String, Long> lastIds() {
        return Map.copyOf(lasts);
    }

    /** A replayed response: its IDs were used before. */
    private static Refusal replay(String what) {
        return new Refusal(0, REPLAY, what + NO_CACHE, Duration.ZERO, false);
    }

    /** IDs of two groups or layouts could be equal, so the second group's are not used. */
    private Refusal mismatch(Origin theirs, Origin last, boolean isFinal) {
        String detail = theirs.url() + ": '" + name + "' is layout '" + theirs.layout() + "', group '" + theirs.group() + "'; "
                + last.url() + ", which gave the last IDs, has layout '" + last.layout() + "', group '" + last.group() + "'";
        return new Refusal(0, MISMATCH, isFinal ? detail : detail + " and does not answer", Duration.ZERO, isFinal);
    }

    /** The origins of all servers that return an ID. */
    private List<Origin> askAll() throws InterruptedException {
        List<Origin> shown = new ArrayList<>();
        for (String url : urls) {
            try {
                shown.add(ask(url, 1).origin());
            } catch (IOException e) { // it shows no origin
            }
        }
        return shown;
    }

    private Answer ask(String url, int n) throws IOException, InterruptedException {
        Map<String, Long> before = lastIds();
        HttpResponse<byte[]> response = post(url, n, BATCH);
        byte[] body = response.body();
        if (body.length != 8 * n)
            throw new IOException("expected " + n + " IDs, " + 8 * n + " bytes, but got " + body.length + " bytes");
        long[] batch = new long[n];
        ByteBuffer.wrap(body).asLongBuffer().get(batch);
        boolean isOrdered = !header(response, "flakeforge-order").equals("none");
        if (isOrdered ? !ascend(batch) : Arrays.stream(batch).distinct().count() != n)
            throw new IOException(n + " IDs that " + (isOrdered ? "do not ascend" : "are not all different"));
        Origin origin = new Origin(url, header(response, "flakeforge-layout"), header(response, "flakeforge-group"));
        String slot = header(response, "flakeforge-slot");
        boolean hasOrder = isOrdered && !slot.isEmpty() && !origin.group().isEmpty();
        return new Answer(origin, hasOrder ? origin.group() + " " + slot : "", batch, before);
    }

    private static boolean ascend(long[] batch) {
        return IntStream.range(1, batch.length).allMatch(i -> Long.compareUnsigned(batch[i - 1], batch[i]) < 0);
    }

    private static String header(HttpResponse<?> response, String name) {
        return response.headers().firstValue(name).orElse("");
    }

    private HttpResponse<byte[]> post(String url, int n, String accept) throws IOException, InterruptedException {
        String path = "/v1/ids/" + URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20") + "?n=" + n;
        String nonce = newNonce();
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url.replaceAll("/+$", "") + path))
                .header("Accept", accept)
                .header("Flakeforge-Nonce", nonce)
                .POST(HttpRequest.BodyPublishers.noBody());
        if (token != null) request.header("Authorization", "Bearer " + token);
        HttpResponse<byte[]> response = inTime(http.sendAsync(request.build(), BodyHandlers.ofByteArray()));
        if (response.statusCode() != 200) throw refusal(response);
        String type = header(response, "content-type").split(";")[0];
        if (!type.equals(accept)) throw new IOException("responded 200 with " + type + ", expected " + accept);
        if (!header(response, "flakeforge-nonce").equals(nonce))
            throw replay("a response without the nonce of this request may be a copy of an earlier one");
        return response;
    }

    private static String newNonce() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** The JDK's own timeout covers only the headers; this one covers the body, too. */
    private static <T> T inTime(CompletableFuture<T> answer) throws IOException, InterruptedException {
        try {
            return answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            throw new IOException("no complete response within " + TIMEOUT.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause().toString(), e.getCause());
        } finally {
            answer.cancel(true); // no effect if it has completed
        }
    }

    /** The error in a problem+json. The JDK has no JSON parser, and two strings need none. */
    private static Refusal refusal(HttpResponse<byte[]> response) {
        String body = new String(response.body(), StandardCharsets.UTF_8);
        String seconds = header(response, "retry-after");
        Duration retryAfter = Duration.ofSeconds(seconds.matches("\\d{1,6}") ? Long.parseLong(seconds) : 0);
        int status = response.statusCode();
        boolean isFinal = status >= 400 && status < 500 && status != 408 && status != 429;
        return new Refusal(status, textOf(body, "code"), textOf(body, "detail"), retryAfter, isFinal);
    }

    private static String textOf(String json, String key) {
        var matcher = Pattern.compile('"' + key + "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
        return matcher.find() ? matcher.group(1) : "";
    }

    // ---- An example: java FlakeForgeIds.java one|json|bytes|many NAME N URL... prints IDs, one per line. The variable
    // FLAKEFORGE_TOKEN is the token, if the server requires one.

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

    /** In JSON the IDs are decimal strings: other languages would round numbers. */
    private static void printJson(FlakeForgeIds ids, int n) throws Exception {
        String json = new String(ids.post(ids.urls.get(0), n, "application/json").body(), StandardCharsets.UTF_8);
        Pattern.compile("\"(\\d+)\"").matcher(json.substring(json.indexOf("\"ids\""))).results()
                .forEach(each -> System.out.println(each.group(1)));
    }

    /** n IDs taken by four threads from one client. */
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
