# A file as text of C: cmake -DINPUT=FILE -DOUTPUT=HEADER -DNAME=array -P EspyText.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "static const unsigned char ${NAME}[] = {\n${bytes}0x00};\n")
