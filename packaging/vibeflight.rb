class Vibeflight < Formula
  desc "Arrow Flight server for geospatial files"
  homepage "https://github.com/vibeflight/vibeflight"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      @darwin-arm64@
    end
    on_intel do
      @darwin-amd64@
    end
  end
  on_linux do
    on_arm do
      @linux-arm64@
    end
    on_intel do
      @linux-amd64@
    end
  end

  def install
    bin.install "vibeflight"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/vibeflight.bash" => "vibeflight"
    zsh_completion.install "completions/_vibeflight"
    fish_completion.install "completions/vibeflight.fish"
  end

  service do
    run [opt_bin/"vibeflight", "serve", "--data", var/"vibeflight"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/vibeflight version")
    (testpath/"a.csv").write "x,y\n1,2\n"
    assert_match "x", shell_output("#{bin}/vibeflight info #{testpath}/a.csv")
  end
end
